"""Maintenance sets: switches and links that the inventory says are taken out of service together."""

from collections.abc import Iterator, Sequence

from fabricgen.bundle.read import Bundle
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.simulate.deadlock.failing import Failure, FailureSet, switch_failure


def maintenance_sets(
    bundle: Bundle, plane: str, fabric: RoutedFabric, failures: Sequence[Failure]
) -> Iterator[tuple[str, FailureSet]]:
    """(name, set) for every set of the bundle with a part in this plane."""
    return iter(())
