"""Maintenance sets: switches and links that the inventory takes out of service together."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from fabricgen.bundle.read import Bundle
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.simulate.deadlock.failures.failure_sets import Failure, FailureSet, switch_failure


def maintenance_sets(
    bundle: Bundle, fabric: RoutedFabric, failures: Sequence[Failure]
) -> Iterator[tuple[str, FailureSet]]:
    """(name, set) for every set of the bundle with members in this plane. Names are shell patterns."""
    for one in bundle.wiring.checks.maintenance if bundle.wiring else ():
        members = [
            switch_failure(fabric, number)
            for number, name in enumerate(fabric.names)
            if any(fnmatchcase(name, pattern) for pattern in one.switches)
        ]
        members += [
            failure
            for failure in failures
            if failure.switch < 0 and any(fnmatchcase(failure.name, pattern) for pattern in one.links)
        ]
        if members:
            yield f"maintenance {one.name}", FailureSet(tuple(members))
