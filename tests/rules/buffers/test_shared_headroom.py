"""FG538: with a shared headroom pool, by ratio or by size, the size of a profile may leave its xoff out."""

import pytest

from tests.rules.clean import clean_fabric

IN = "ingress_lossless_pool"


@pytest.mark.parametrize(
    ("ratio", "xoff", "found"),
    [("", "", True), ("0", "", True), ("2", "", False), ("", "4000000", False), ("", "0", True)],
)
def test_a_profile_with_the_size_of_xon(ratio: str, xoff: str, found: bool) -> None:
    fabric = clean_fabric("dynamic")
    config = fabric.configs["leaf1"]
    config["BUFFER_PROFILE"]["own"] = {"pool": IN, "size": "19456", "xon": "19456", "xoff": "90112", "dynamic_th": "0"}
    if ratio:
        config["DEFAULT_LOSSLESS_BUFFER_PARAMETER"]["AZURE"]["over_subscribe_ratio"] = ratio
    if xoff:
        config["BUFFER_POOL"][IN]["xoff"] = xoff
    assert any(one.path == "BUFFER_PROFILE|own|size" for one in fabric.judge("FG538")) == found
