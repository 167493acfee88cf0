"""Values that several rules need, worked out once for each fabric."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from fabricgen.rules.view.fabric import Fabric

T = TypeVar("T")


def derived(function: Callable[[Fabric], T]) -> Callable[[Fabric], T]:
    """The function, called once for each fabric; later calls return the same object."""

    @wraps(function)
    def once(fabric: Fabric) -> T:
        return fabric.keep(fabric.derived, function, lambda: function(fabric))

    return once


def derived_of_switch(fabric: Fabric, name: str, make: Callable[..., T], *about: object) -> T:
    """`make(*about)`, which depends on one switch, called once for the fabric: it stays if other switches change."""
    return fabric.keep(fabric.derived, (make, name), lambda: make(*about), name)
