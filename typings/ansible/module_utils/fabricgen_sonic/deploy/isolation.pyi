from fabricgen.deploy.isolation import move as move
