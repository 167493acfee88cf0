"""What fabricgen renders passes its own check: some fabrics of `make matrix`, which judges all."""

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.sonic.releases import MASTER
from scripts.matrix import layouts
from scripts.sweep import RELEASES, Model, inventory, judged, media
from tests.examples import examples

SKUS = [layout.hwsku for _, layout in layouts() if {"leaf", "spine"} <= layout.buffers.keys()]


def speeds_of(model: Model, release: int | str) -> set[int]:
    """The speeds at which a layout has headroom in a release."""
    platform, layout = model
    if platform.buffer_model == "dynamic":
        return set(layout.speeds_mbps)
    return {row.speed_mbps for row in layout.at(MASTER if release == "master" else int(release)).headroom}


@settings(
    max_examples=examples(20), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much]
)
@given(st.sampled_from(SKUS), st.sampled_from(SKUS), st.sampled_from(RELEASES), st.data())
def test_own_renders_have_no_finding_above_note(leaf: str, spine: str, release: int | str, data: st.DataObject) -> None:
    roles = {role: found for role, sku in {"leaf": leaf, "spine": spine}.items() if (found := layout_by_hwsku(sku))}
    usable = [speeds_of(model, release) & set(model[1].speeds_mbps) for model in roles.values()]
    assume(speeds := sorted(set.intersection(*usable)))
    assume(all(len(model[1].ports_at(speeds[-1])) > 2 for model in roles.values()))
    fecs = {port.fec for model in roles.values() for port in model[1].ports_at(speeds[-1])}
    assume(len(fecs) == 1)  # each SKU's own FEC is rendered, and FG242 reports links whose ends have another
    medium = data.draw(st.sampled_from(media(roles, speeds[-1])))
    assert judged(inventory(roles, speeds[-1], release, medium)) == []
