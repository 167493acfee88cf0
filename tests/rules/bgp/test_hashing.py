"""What the rules on hashes, trimming and ways to spread accept."""

from pathlib import Path

import pytest

from fabricgen.rules.run import run
from tests.rules.bgp.cases import HASHING, WEIGHTS, image, sid
from tests.rules.case import GoodCase, HostFiles, Switches
from tests.rules.changes import both, put
from tests.rules.clean import HASH
from tests.rules.fabrics import LEAVES, META, of_wiring, rewired
from tests.rules.hosts.inventories import DGX, INFINIBAND, NCCL, SPRAYED
from tests.rules.qos.cases import by_flowlet, by_packet, lossy_compute, without_marks

TWO_AND_TWO = of_wiring(rewired(lambda link: link.b[0] != "spine2", spine3="spine1"))
THREE_AND_TWO = of_wiring(rewired(lambda _: True, spine3="spine1"))
SPINE_25 = put("SpineRouter", "spine1", *META, "type")
TRIMMING = {"size": "206", "dscp_value": "48", "queue_index": "6"}


def ccitt_on_spine(configs: dict[str, dict[str, dict[str, dict[str, object]]]]) -> None:
    """A spine of other seed hashes with another polynomial."""
    both(SPINE_25, put("CRC_CCITT", "spine1", *HASHING, "ecmp_hash_algorithm"))(configs)


def not_adaptive(folder: Path) -> None:
    (folder / NCCL).write_text((folder / NCCL).read_text() + "NCCL_IB_ADAPTIVE_ROUTING=0\n")


def adaptive(folder: Path) -> None:
    (folder / NCCL).write_text((folder / NCCL).read_text() + "NCCL_IB_ADAPTIVE_ROUTING=1\n")


GOOD = [
    GoodCase("FG351", put("CRC_CCITT", "leaf1", *HASHING, "ecmp_hash_algorithm"), Switches("dynamic")),
    GoodCase("FG351", both(put([*HASH, "IPV6_FLOW_LABEL"], "leaf1", *HASHING, "ecmp_hash"), image("202505", "leaf1"))),
    GoodCase("FG352", put("LeafRouter", "spine1", *META, "type"), Switches(plug=THREE_AND_TWO)),
    GoodCase("FG352", put("MgmtToRRouter", "spine1", *META, "type")),  # its spine selects no link
    GoodCase("FG367", put(HASH, "leaf1", *HASHING, "ecmp_hash"), Switches("dynamic")),
    GoodCase("FG368", put("ACS-SN5600", "leaf1", *META, "hwsku"), Switches("dynamic")),
    GoodCase("FG369", put("LeafRouter", "spine1", *META, "type"), Switches(plug=TWO_AND_TWO)),
    GoodCase("FG369", SPINE_25),
    GoodCase("FG369", SPINE_25, Switches(plug=THREE_AND_TWO)),
    GoodCase("FG369", ccitt_on_spine, Switches(plug=TWO_AND_TWO)),
    GoodCase("FG371", both(sid(action="uN", decap_dscp_mode="pipe"), image("202511", "leaf1"))),
    GoodCase("FG371", sid(action="uA", decap_dscp_mode="uniform")),
    GoodCase("FG575", put({"pool": "x", "packet_discard_action": "trim"}, "leaf1", "BUFFER_PROFILE", "trimming")),
    GoodCase("FG576", put(TRIMMING, "leaf1", "SWITCH_TRIMMING", "GLOBAL")),
    GoodCase("FG576", put({**TRIMMING, "size": "256"}, "leaf1", "SWITCH_TRIMMING", "GLOBAL"), Switches("dynamic")),
    GoodCase("FG577", both(*(put(TRIMMING, name, "SWITCH_TRIMMING", "GLOBAL") for name in LEAVES))),
    GoodCase("FG578", lambda _: None, Switches(plug=of_wiring(lossy_compute))),  # it marks ECN
    GoodCase("FG578", without_marks),  # it has PFC
    GoodCase("FG917", not_adaptive, HostFiles(DGX)),
    GoodCase("FG917", adaptive, HostFiles(INFINIBAND)),
    GoodCase("FG917", lambda _: None, HostFiles(SPRAYED)),  # rendered
    GoodCase("FG579", lambda _: None, HostFiles(SPRAYED)),  # ConnectX-7
    GoodCase("FG579", lambda _: None, Switches(plug=of_wiring(by_flowlet))),
    GoodCase("FG918", lambda _: None, Switches(plug=of_wiring(by_packet("BCM57608")))),
    GoodCase("FG918", lambda _: None, Switches(plug=of_wiring(by_flowlet))),
    GoodCase("FG372", put("true", "leaf1", *WEIGHTS)),  # bgpcfgd reads it
    GoodCase("FG373", both(*(put("true", name, *WEIGHTS) for name in LEAVES))),
]


@pytest.mark.parametrize("case", GOOD, ids=[f"{number}-{case.code}" for number, case in enumerate(GOOD)])
def test_a_correct_fabric_has_no_finding(tmp_path: Path, case: GoodCase) -> None:
    assert run(case.clean.broken(case.change, tmp_path), [case.code]) == []
