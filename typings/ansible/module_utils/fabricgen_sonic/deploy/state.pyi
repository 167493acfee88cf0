from fabricgen.deploy.state import problems_of as problems_of
