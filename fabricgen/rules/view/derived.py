"""Values that several rules need, worked out once for each fabric."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, cast

from fabricgen.rules.view.fabric import Fabric

T = TypeVar("T")


def derived(function: Callable[[Fabric], T]) -> Callable[[Fabric], T]:
    """The function, called once for each fabric; later calls return the same object."""

    @wraps(function)
    def once(fabric: Fabric) -> T:
        if function not in fabric.derived:
            fabric.derived[function] = function(fabric)
        return cast(T, fabric.derived[function])

    return once
