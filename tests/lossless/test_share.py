"""`share` of a plane: the weights of its queues."""

import json
from pathlib import Path

from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans
from tests.inventories import rail_optimized, write

CLASSES = {str(priority): {"dscp": [8 * priority + 2]} for priority in (1, 2, 3, 4)}


def test_a_share_is_divided_among_the_queues_of_a_kind(tmp_path: Path) -> None:
    plans = make_plans(write(tmp_path, rail_optimized(lossless={"share": 90})))
    files = dict(BundleContent(plans).files())
    schedulers = json.loads(files["sonic/compute-su00-r0-leaf/config_db.json"])["SCHEDULER"]
    assert {name: row.get("weight") for name, row in schedulers.items()} == {
        "LOSSLESS": "45", "LOSSY": "2", "STRICT": None
    }  # fmt: skip


def test_a_share_that_gives_rdma_less_is_refused(tmp_path: Path) -> None:
    found = make_plans(write(tmp_path, rail_optimized(lossless={"share": 50, "classes": CLASSES}))).findings
    assert [(one.code, one.path) for one in found] == [("FG276", "planes.compute.lossless.share")]
    assert "weight 12, and each lossy queue 25" in found[0].message
