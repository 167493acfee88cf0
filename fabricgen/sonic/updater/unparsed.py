"""What the YANG library of a release cannot read, although its models have it: no patch of such a switch is taken.

The Ansible role contains this module: only the standard library and relative imports.
"""

from collections.abc import Iterator, Mapping

from ..releases import MASTER, release_name
from ..statements import ProgramStatement
from ..tables import ConfigDb

_READ = (202305, 202311, 202405, 202411, 202505, 202511, 202605, MASTER)
GROUPED_LISTS = ProgramStatement(
    "sonic-yang-mgmt does not read the leaf-lists of a grouping, and refuses a configuration that has one",
    "sonic-buildimage src/sonic-yang-mgmt/sonic_yang_ext.py _createDBTableToModuleMap, preProcessedYang "
    "(#22382, #21525, mended by #21907 _compileUsesClause); models: sonic-bgp-common.yang sonic-bgp-cmn-af",
    _READ,
    before=202511,
)
WITHOUT_SEQUENCE = ProgramStatement(
    "the model of PREFIX has a sequence number in each key, and frrcfgd ends at a key that has one",
    "sonic-buildimage src/sonic-yang-models/yang-models/sonic-routing-policy-sets.yang PREFIX_LIST; "
    "src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py (`pfx_set_name, ip_pfx, len_range = key`)",
    _READ,
    before=202511,
)
VALIDATES_FILES = ProgramStatement(
    "`config reload FILE` validates the file; `config reload`, and /dev/stdin as FILE, are not validated",
    "sonic-utilities config/main.py reload (config_file_yang_validation)",
    _READ,
    since=202505,
)
PREFIX, KEY_BARS = "PREFIX", 3  # bars of a key with a sequence number
LISTS: Mapping[str, tuple[str, ...]] = {
    "BGP_NEIGHBOR_AF": ("route_map_in", "route_map_out"),
    "BGP_PEER_GROUP_AF": ("route_map_in", "route_map_out"),
}


def unparsed(config: ConfigDb, release: int) -> Iterator[tuple[str, str, str]]:
    """(table, key, field) of what the release cannot read."""
    for table, fields in LISTS.items() if GROUPED_LISTS.holds(release) else ():
        for key, row in config.get(table, {}).items():
            yield from ((table, key, field) for field in fields if field in row)
    if WITHOUT_SEQUENCE.holds(release):
        yield from ((PREFIX, key, "") for key in config.get(PREFIX, {}) if key.count("|") < KEY_BARS)


def refuses_files(config: ConfigDb, release: int) -> bool:
    """Whether `config reload FILE` refuses the configuration because of it."""
    return VALIDATES_FILES.holds(release) and any(unparsed(config, release))


def why_unparsed(config: ConfigDb, release: int) -> str:
    """Why the updater refuses each patch to or from the configuration; "" if it does not for this reason."""
    for table, key, field in unparsed(config, release):
        where = f"{field} of {table}|{key}" if field else f"{table}|{key}"
        return f"the YANG library of {release_name(release)} cannot read {where}: each patch is refused"
    return ""
