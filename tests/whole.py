"""Cases that `make test-all` runs and `make test` does not, because another case runs the same code in less time."""

from collections.abc import Iterable
from typing import Any

import pytest


def whole_but(cases: Iterable[Any], *kept: Any) -> list[Any]:
    """The cases as parameters of a test; `make test` runs the kept ones only."""
    found = list(cases)
    assert set(kept) <= set(found), set(kept) - set(found)
    return [case if case in kept else pytest.param(case, marks=pytest.mark.whole) for case in found]
