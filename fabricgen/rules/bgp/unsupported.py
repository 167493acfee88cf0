"""Rules on ways to spread and steer traffic that SONiC's images do not have, or only some of them."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.releases import MASTER, release_name
from fabricgen.sonic.srv6 import CHIPS_WITHOUT_SIDS, SIDS, SIDS_SINCE


@rule("FG370", Severity.ERROR, "No release of SONiC reads the tables of adaptive routing")
def adaptive_routing(fabric: Fabric) -> Iterator[Defect]:
    """What: The file has no ARS_ table.

    Why: The design of adaptive routing and switching is merged, its code is not: no release and no YANG model has the
    tables. They are ignored without a message, and the switch hashes as before.

    Example: ARS_PROFILE|default.

    Fix: Remove the tables. Images of vendors that have the feature use their own tables; accept the finding there.

    Source: SONiC HLD doc/ARS (pull request 1958); sonic-swss pull request 3597 and sonic-buildimage 22264, both open.
    """
    for switch in fabric.switches.values():
        for table in sorted(name for name in switch.device.config if name.startswith("ARS_")):
            message = "no release of SONiC reads the table: the switch does not route adaptively"
            yield Defect(switch.place(table), message, f"remove {table}, or use the image of a vendor that has it")


@rule("FG371", Severity.ERROR, "The image or chip does not have these SRv6 SIDs")
def srv6_sids(fabric: Fabric) -> Iterator[Defect]:
    """What: Rows of SRV6_MY_SIDS are on release 202511 or later, and on chips that take them. The action uA is on the
    master branch only. A missing decap_dscp_mode is a warning.

    Why: Release 202505 does not make the interface sr0, so static SIDs fail. Tomahawk, Tomahawk 2 and Trident 3 refuse
    them. Earlier images do not have the action uA. Images before and after April 2026 take different modes where
    decap_dscp_mode is missing.

    Example: A row with action uA on release 202511.

    Fix: Use uN, a later release, or switches whose chip has SRv6; encapsulate at the hosts.

    Source: sonic-buildimage issue 21857, pull requests 27902 and 27903; sonic-mgmt issue 24698; sonic-swss pull
    request 4457; src/sonic-bgpcfgd managers_srv6.py.
    """
    for switch in fabric.switches.values():
        if sids := switch.device.table(SIDS):
            yield from _whole_table(switch)
            for key, row in sids.items():
                if row.get("action") == "uA" and switch.device.release != MASTER:
                    message = f"{release_name(switch.device.release)} does not have the action uA"
                    yield Defect(switch.place(SIDS, key, "action"), message, "use uN, or an image of the master branch")
                if not row.get("decap_dscp_mode"):
                    message = "decap_dscp_mode is missing: images have different defaults"
                    place = switch.place(SIDS, key, "decap_dscp_mode")
                    yield Defect(place, message, "set decap_dscp_mode to pipe or uniform", (), Severity.WARNING)


def _whole_table(switch: Switch) -> Iterator[Defect]:
    asic = (switch.platform.asic or "") if switch.platform else ""
    if asic in CHIPS_WITHOUT_SIDS:
        yield Defect(switch.place(SIDS), f"{asic} does not take SIDs", "remove the table")
    if switch.device.release < SIDS_SINCE:
        message = f"{release_name(switch.device.release)} has no interface sr0: static SIDs fail"
        yield Defect(switch.place(SIDS), message, f"use {release_name(SIDS_SINCE)} or later")
