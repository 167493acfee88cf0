"""A search for settings that takes a few seconds."""

import pytest

from fabricgen.simulate.tuning import race


@pytest.fixture
def short_race(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings are compared by two draws, and the search climbs once. What follows the search takes all draws."""
    monkeypatch.setattr(race, "ROUNDS", (1, 2))
    monkeypatch.setattr(race, "_CLIMBS", 1)
