"""`check` in several processes: rules in some, the proof and the analysis in another, prints the same bytes."""

import json
from pathlib import Path

import pytest

from fabricgen import spread
from fabricgen.rules import turns
from tests.conftest import Cli
from tests.inventories import two_rails, write


@pytest.mark.parametrize("forgets", [False, True])
def test_a_check_does_not_depend_on_the_number_of_processes(
    forgets: bool, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules on so many switches that tables are forgotten are checked in one process."""
    monkeypatch.setattr(spread, "SWITCHES_EACH", 1)
    monkeypatch.setattr(turns, "LEAST_FORGOTTEN", 1 if forgets else 1 << 20)
    wrong = [
        {"match": {"role": "spine"}, "config_db": {"PORT": {"Ethernet0": {"mtu": "1500"}}}},
        {"match": {"role": "spine"}, "config_db": {"DEVICE_METADATA": {"localhost": {"bgp_asn": "7"}}}},
    ]
    tree = {**two_rails(), "overrides": wrong}
    inventory = write(tmp_path / "inventory", tree)
    for form in ("json", "text"):
        one, several = (
            cli("--jobs", jobs, "check", inventory, "--no-cache", "--format", form, "--fail-on", "never")
            for jobs in (1, 3)
        )
        assert one.code == several.code == 0 and one.out == several.out
        assert ("; meanwhile" in several.err, "; meanwhile" in one.err) == (not forgets, False)
        if form == "json":
            found = json.loads(one.out)
            codes = {each["code"][:3] for each in found["findings"]}
            assert {"FG3", "FG6"} <= codes and "certificate" in found["deadlock"], codes
