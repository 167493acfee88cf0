from fabricgen.deploy.steps import take as take
