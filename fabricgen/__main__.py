"""`python -m fabricgen`."""

from fabricgen.cli.main import run

run()
