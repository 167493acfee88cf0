"""What `simulate congestion` and `simulate packets` are asked alike: whose traffic, and how much of it."""

from pathlib import Path

import click

from fabricgen.cli.settings import several
from fabricgen.cli.streams import tell
from fabricgen.errors import UsageError
from fabricgen.units import parse_bytes

traffic_options = several(
    click.option("--pattern", metavar="NAME", help="Traffic pattern; `list` prints them.  [default: ring-all-reduce]"),
    click.option(
        "--scenario", type=click.Path(path_type=Path, dir_okay=False), help="A scenario file instead of PATHS."
    ),
)


def lists_patterns(pattern: str | None) -> bool:
    """Whether the names of patterns were asked for; prints them."""
    if pattern != "list":
        return False
    from fabricgen.simulate.patterns import PATTERNS

    tell("\n".join(PATTERNS))
    return True


def require_one_source(paths: tuple[Path, ...], scenario: Path | None, **for_bundles: object) -> None:
    """Raises UsageError unless there are files or a scenario, and for options that a scenario makes pointless."""
    if bool(paths) == (scenario is not None):
        raise UsageError("give a bundle or config_db files, or one scenario with --scenario")
    given = [f"--{name.replace('_', '-')}" for name, value in for_bundles.items() if value is not None]
    if scenario is not None and given:
        raise UsageError(f"a scenario brings its own flows: {', '.join(given)}: for bundles only")


def message_bytes(text: str) -> int:
    """--size in bytes. Raises UsageError for anything that is no size, and for nothing."""
    try:
        size = parse_bytes(text)
    except ValueError as error:
        raise UsageError(f"--size: {error}") from error
    if not size:
        raise UsageError("--size: a message has at least one byte")
    return size
