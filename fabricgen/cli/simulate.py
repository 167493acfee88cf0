"""`fabricgen simulate`: the behavior of a fabric, from its rendered files."""

import click

from fabricgen.cli import simulate_congestion, simulate_deadlock, simulate_packets, simulate_paths
from fabricgen.cli.settings import FullGroup


@click.group("simulate", cls=FullGroup)
def command() -> None:
    """Prove or simulate the behavior of a fabric, from its rendered files.

    \b
    Examples:
      fabricgen simulate deadlock build --failures 1
      fabricgen simulate congestion build --pattern all-to-all
    """


for verb in (simulate_deadlock, simulate_congestion, simulate_packets, simulate_paths):
    command.add_command(verb.command)
