"""The rule on the files in the dialect mlnx-sm-5, which UFM reads, compared with those of opensm-3.3 beside them."""

from collections.abc import Iterator, Mapping

from fabricgen.bundle.read import OPTIONS_NAME
from fabricgen.bundle.sources import MLNX_FOLDER
from fabricgen.c_numbers import c_number
from fabricgen.findings import Severity
from fabricgen.opensm import sharp
from fabricgen.opensm.guid_lists import read_guids
from fabricgen.opensm.guids import guid_text
from fabricgen.opensm.mlnx_sm import NODE_NAME_MAP, option_facts, option_problem
from fabricgen.opensm.node_name_map import read_node_names
from fabricgen.opensm.opensm_conf import READ_FILES, UNSET, OptionFile, read_options
from fabricgen.opensm.options import FIRST_LIFETIME, LAST_LIFETIME, RANGES
from fabricgen.opensm.partitions_conf import PartitionEntry, key_of, membership_of, read_partitions
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import OTHER, ManagedSubnet, managed_subnets
from fabricgen.sonic.secrets import is_secret_field

CONF, PARTITIONS, ROOTS, NAMES, SHARP = (
    f"{MLNX_FOLDER}/{name}"
    for name in (OPTIONS_NAME, "partitions.conf", "root_guids", NODE_NAME_MAP, sharp.CONFIG_NAME)
)
_SHARED = ("subnet_prefix", "lmc", "allow_both_pkeys", "max_op_vls", "honor_guid2lid_file", "m_key")
_LOOP_FREE_ON_TREES = ("ar_updn", "updn", "ar_ftree", "ftree", "dnup", "pqft")
_LOOP_FREE = {"dragonfly-plus": ("dfp2", "dfp")}
_RENDER = "run `fabricgen render` again"


@rule("FG842", Severity.ERROR, "The files for UFM do not describe the same subnet")
def files_for_ufm(fabric: Fabric) -> Iterator[Defect]:
    """What: mlnx-sm-5/ has an opensm.conf with options and values of that manager, an engine that is free of credit
    loops on the design, the files that it names, and the subnet prefix, LMC, lanes and keys of the opensm.conf beside
    the folder. partitions.conf, root_guids and ib-node-name-map have the content of the files beside the folder. SHARP
    is on in opensm.conf if sharp_am.cfg is there, whose algorithm suits the design and which keeps tenants apart.

    Why: UFM programs the subnet by these files. A member that is missing there has no connectivity, and minhop closes
    credit loops.

    Example: routing_engine is minhop in mlnx-sm-5/opensm.conf.

    Fix: Render again.

    Source: fabricgen/opensm/mlnx-sm-options.tsv, which names the public sources; UFM Enterprise User Manual v6.24.
    """
    for subnet in managed_subnets(fabric):
        if not (subnet.folder / MLNX_FOLDER).is_dir():
            continue
        for file in (CONF, PARTITIONS):
            if subnet.text(file) is None:
                yield Defect(subnet.place(file), f"{file} is missing", _RENDER)
        if (text := subnet.text(CONF)) is not None:
            content = read_options(text)
            yield from _options(subnet, content)
            yield from _engine(subnet, content)
            yield from _files(subnet, content)
            yield from _aggregation(subnet, content)
        yield from _partitions(subnet)
        yield from _lists(subnet)


def _options(subnet: ManagedSubnet, content: OptionFile) -> Iterator[Defect]:
    for line in content.lines:
        name, text = line.name.text, line.value.text
        if problem := option_problem(name, text) or (f"{name} has no value" if not text else None):
            yield Defect(subnet.place(CONF, line.name, name), problem, _RENDER)
        elif name in ("packet_life_time", "vl_stall_count", "leaf_vl_stall_count"):
            fault = _lifetime_fault(name, text)
            if fault:
                hint = f"set {name} to {option_facts()[name].default}"
                yield Defect(subnet.place(CONF, line.value, name), f"{name} is {text}: {fault}", hint)
    master = subnet.master.content.options
    for name in _SHARED:
        ours, theirs = (one[name].value.text if name in one else "" for one in (content.options, master))
        if theirs and ours != theirs:
            secret = is_secret_field("", name) or name.endswith("_key")
            found, expected = ("another value", "the value") if secret else (ours or "missing", theirs)
            word = content.options[name].value if name in content.options else None
            related = ((f"{name} of opensm-3.3", subnet.master.place(name)),)
            message = f"{name} is {found}, but {OPTIONS_NAME} beside the folder has {expected}"
            yield Defect(subnet.place(CONF, word, name), message, f"use one {name} in both files", related)


def _lifetime_fault(name: str, text: str) -> str:
    number = c_number(text) or 0
    if name == "packet_life_time":
        if number < FIRST_LIFETIME:
            return "switches drop packets that only wait for their turn"
        return "switches never drop a blocked packet" if number > LAST_LIFETIME else ""
    most = RANGES[name][1]
    return "not defined" if not number else f"outside the range 1 to {most}" if number > most else ""


def _engine(subnet: ManagedSubnet, content: OptionFile) -> Iterator[Defect]:
    line = content.options.get("routing_engine")
    if subnet.kind is None:
        return
    allowed = _LOOP_FREE_ON_TREES if subnet.kind != OTHER else _LOOP_FREE.get(subnet.design, ())
    named = line.value.text.replace(",", " ").split() if line else []
    if wrong := [one for one in named or ["(unset)"] if one not in allowed]:
        what = f"a {subnet.design}" if subnet.design else "this wiring"
        message = f"routing_engine is {wrong[0]}, which is not known to be free of credit loops on {what}"
        hint = f"set routing_engine to {allowed[0]}" if allowed else "use the files of opensm-3.3"
        yield Defect(subnet.place(CONF, line.value if line else None, "routing_engine"), message, hint)


def _files(subnet: ManagedSubnet, content: OptionFile) -> Iterator[Defect]:
    for name, file in content.file_names.items():
        if subnet.text(f"{MLNX_FOLDER}/{file}") is None:
            word = content.options[name].value
            yield Defect(subnet.place(CONF, word, name), f"{name} names {file}, which is missing", _RENDER)
    named = {line.value.text.rpartition("/")[2] for line in content.lines if line.name.text in READ_FILES}
    for option, file in (("root_guid_file", ROOTS), ("node_name_map_name", NAMES)):
        is_set = option in content.options and content.options[option].value.text not in UNSET
        if not is_set and subnet.text(file) is not None and file.rpartition("/")[2] not in named:
            yield Defect(subnet.place(CONF, None, option), f"no option names {file}", f"add {option}")


def _aggregation(subnet: ManagedSubnet, content: OptionFile) -> Iterator[Defect]:
    """SHARP: opensm.conf switches it on, sharp_am.cfg says how."""
    enabled, text = content.options.get("sharp_enabled"), subnet.text(SHARP)
    is_on = enabled is not None and enabled.value.text == str(sharp.ENABLED)
    if text is None:
        if is_on:
            yield Defect(subnet.place(SHARP), f"sharp_enabled is {sharp.ENABLED}, but {SHARP} is missing", _RENDER)
        return
    if not is_on:
        word = enabled.value if enabled else None
        message = f"{SHARP} is there, but sharp_enabled is not {sharp.ENABLED}: the switches do not aggregate"
        yield Defect(subnet.place(CONF, word, "sharp_enabled"), message, f"set sharp_enabled to {sharp.ENABLED}")
    config = read_options(text)
    for line in config.lines:
        if problem := sharp.option_problem(line.name.text, line.value.text):
            yield Defect(subnet.place(SHARP, line.value, line.name.text), problem, _RENDER)
    algorithm = config.options.get("dynamic_tree_algorithm")
    if subnet.kind == OTHER and (algorithm is None or algorithm.value.text != str(sharp.OTHER_TREE)):
        word = algorithm.value if algorithm else None
        message = "dynamic_tree_algorithm is not 1, but the fat-tree algorithm does not suit the wiring"
        yield Defect(subnet.place(SHARP, word, "dynamic_tree_algorithm"), message, "set dynamic_tree_algorithm to 1")
    mode = config.options.get("reservation_mode")
    if len(subnet.partitions) > 1 and (mode is None or mode.value.text != "TRUE"):
        word = mode.value if mode else None
        message = "reservation_mode is not TRUE, but the subnet has tenants: trees have no P_Key of a tenant"
        yield Defect(subnet.place(SHARP, word, "reservation_mode"), message, "set reservation_mode to TRUE")


Members = Mapping[str, str]


def _partitions(subnet: ManagedSubnet) -> Iterator[Defect]:
    text = subnet.text(PARTITIONS)
    if text is None or not subnet.partitions:
        return
    content = read_partitions(text)
    for fault in content.faults:
        yield Defect(subnet.place(PARTITIONS, fault.word), fault.message, _RENDER)
    ours, theirs = ({key_of(one): one for one in entries} for entries in (content.partitions, subnet.partitions))
    for key, partition in theirs.items():
        if key not in ours:
            yield Defect(subnet.place(PARTITIONS), f"the partition {partition.name} is missing", _RENDER)
            continue
        found, expected = _members(ours[key]), _members(partition)
        for name in sorted(expected.keys() | found.keys()):
            if found.get(name) != expected.get(name):
                has, needs = found.get(name, "not a member"), expected.get(name, "not a member")
                message = f"{partition.name}: {name} is {has}, but {needs} in {subnet.partition_name}"
                yield Defect(subnet.place(PARTITIONS, ours[key].name, name), message, _RENDER)
        if _flags(ours[key]) != _flags(partition):
            message = f"{partition.name}: the flags differ from those in {subnet.partition_name}"
            yield Defect(subnet.place(PARTITIONS, ours[key].name), message, _RENDER)
    for key in (one for one in ours if one not in theirs):
        message = f"the partition {ours[key].name} is not in {subnet.partition_name}"
        yield Defect(subnet.place(PARTITIONS, ours[key].name), message, _RENDER)


def _members(partition: PartitionEntry) -> Members:
    return {one.name.text.lower(): membership_of(partition, one).value for one in partition.members}


def _flags(partition: PartitionEntry) -> Mapping[str, str]:
    return {one.name.text: one.value.text if one.value else "" for one in partition.flags}


def _lists(subnet: ManagedSubnet) -> Iterator[Defect]:
    """The roots and the names of nodes."""
    for file, other in ((ROOTS, "root_guids"), (NAMES, "node-name-map")):
        text, master = subnet.text(file), subnet.text(other)
        if text is None or master is None:
            continue
        ours, theirs = (_entries(one, file) for one in (text, master))
        if ours != theirs:
            different = sorted({guid for guid, _ in ours ^ theirs})
            shown = ", ".join(map(guid_text, different[:3]))
            message = f"the file differs from {other} beside the folder in {len(different)} GUIDs: {shown}"
            yield Defect(subnet.place(file), message, _RENDER)


def _entries(text: str, file: str) -> frozenset[tuple[int, str]]:
    if file == NAMES:
        return frozenset(read_node_names(text).items())
    return frozenset((guid, "") for guid, _ in read_guids(text).entries)
