"""Fluids as machine code, and a search for settings that takes a few seconds."""

from collections.abc import Iterator

import pytest

from fabricgen.simulate.congestion import finite
from fabricgen.simulate.tuning import race


@pytest.fixture(autouse=True, scope="package")
def machine_code() -> Iterator[None]:
    """Small runs of the fluid model use machine code, too: congestion/test_fresh.py compares it with arrays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finite, "_WORTH_COMPILING", 0)
        yield


@pytest.fixture
def short_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings are compared by two draws, and the search climbs once. What follows the search takes all draws."""
    monkeypatch.setattr(race, "ROUNDS", (1, 2))
    monkeypatch.setattr(race, "_CLIMBS", 1)
