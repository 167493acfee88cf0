"""Rows of pg_profile_lookup.ini of SKUs that the catalog does not have: no help may make a lossless port lossy."""

from pathlib import Path

import pytest

from fabricgen.rules.run import run
from tests.rules.case import Switches
from tests.rules.changes import both, put
from tests.rules.fabrics import PROFILE, unknown_sku

# sonic-buildimage 086b03bd, device/nokia/x86_64-nokia_ixr7220_d4-r0/Nokia-IXR7220-D4-36D/pg_profile_lookup.ini, the row
# of 400000 and 5m: the size is below xon.
SMALL = {"pool": "ingress_lossless_pool", "size": "1272", "xon": "2544", "xoff": "154548", "dynamic_th": "0"}


@pytest.mark.parametrize("name", [PROFILE, "pg_lossless_100000_300m_profile"])
def test_a_size_below_xon_is_common(tmp_path: Path, name: str) -> None:
    """Also one that no port uses now: buffermgrd made it for a port that had this speed and length."""
    change = unknown_sku(put(dict(SMALL), "leaf1", "BUFFER_PROFILE", name))
    assert run(Switches().broken(change, tmp_path), ["FG538"]) == []


def test_the_help_for_a_bound_profile_is_never_to_remove_it(tmp_path: Path) -> None:
    """Without its profile a lossless priority group drops."""
    change = unknown_sku(
        both(
            put({**SMALL, "xoff": "0"}, "leaf1", "BUFFER_PROFILE", "own"),
            put("own", "leaf1", "BUFFER_PG", "Ethernet0|3-4", "profile"),
        )
    )
    [found] = run(Switches().broken(change, tmp_path), ["FG538"])
    assert found.message == "xoff of own is 0"
    assert found.hint == "take the row of this speed and length from pg_profile_lookup.ini of the SKU"
