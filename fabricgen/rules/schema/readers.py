"""The rule on tables whose only reader does not run on a switch, or does not read them in its mode."""

from collections.abc import Iterator, Mapping

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.image import uses_frr_framework

_FRRCFGD = (
    "AS_PATH_SET", "BGP_GLOBALS", "BGP_GLOBALS_AF", "BGP_GLOBALS_AF_AGGREGATE_ADDR", "BGP_GLOBALS_AF_NETWORK",
    "BGP_GLOBALS_LISTEN_PREFIX", "BGP_NEIGHBOR_AF", "BGP_PEER_GROUP", "BGP_PEER_GROUP_AF", "COMMUNITY_SET",
    "EXTENDED_COMMUNITY_SET", "PREFIX", "PREFIX_SET", "ROUTE_MAP", "ROUTE_MAP_SET", "ROUTE_REDISTRIBUTE",
)  # fmt: skip
_BGPCFGD = (
    "BGP_AGGREGATE_ADDRESS", "BGP_ALLOWED_PREFIXES", "BGP_BBR", "BGP_MONITORS", "BGP_SENTINELS", "PREFIX_LIST",
)  # fmt: skip
_DYNAMIC = ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "LOSSLESS_TRAFFIC_PATTERN")
_FROM_IMAGE: Mapping[str, frozenset[str]] = {"BGP_BBR": frozenset({"all"})}  # rows of init_cfg.json


@rule("FG418", Severity.WARNING, "No program of the switch reads a table")
def without_reader(fabric: Fabric) -> Iterator[Defect]:
    """What: Tables of frrcfgd have rows only with frr_mgmt_framework_config "true", those of bgpcfgd only without it,
    and the parameters of the dynamic buffer model only with buffer_model "dynamic".

    Why: The rows have no effect, and nothing reports it: a route map filters nothing, a ratio shares no headroom.

    Example: ROUTE_MAP has rows, and DEVICE_METADATA has no frr_mgmt_framework_config.

    Fix: Remove the rows, or use the mode that reads them.

    Source: sonic-buildimage src/sonic-bgpcfgd/bgpcfgd/main.py (managers), src/sonic-frr-mgmt-framework/frrcfgd/
    frrcfgd.py (table_handler_list); sonic-swss cfgmgr/buffermgrd.cpp (the tables of each model).
    """
    for switch in fabric.switches.values():
        for tables, reader, mode in _unread(switch):
            for table in tables:
                if switch.device.table(table).keys() - _FROM_IMAGE.get(table, frozenset()):
                    message = f"only {reader} reads it, and {mode}: the rows have no effect"
                    yield Defect(switch.place(table), message, f"remove {table}")


def _unread(switch: Switch) -> Iterator[tuple[tuple[str, ...], str, str]]:
    if uses_frr_framework(switch.device.config):
        yield _BGPCFGD, "bgpcfgd", 'frr_mgmt_framework_config is "true"'
    else:
        yield _FRRCFGD, "frrcfgd", 'frr_mgmt_framework_config is not "true"'
    if switch.device.metadata.get("buffer_model", "dynamic") != "dynamic":
        yield _DYNAMIC, "the dynamic buffer model", "buffer_model is not dynamic"
