"""Options of opensm.conf as they stand: known, legal, and naming files that are there."""

import re
from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches

from fabricgen.findings import Severity
from fabricgen.opensm.opensm_conf import READ_FILES, UNSET
from fabricgen.opensm.options import LAST_LIFETIME, VERSION, option_facts, option_problem
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import OTHER, ManagedSubnet, ManagerFile, managed_subnets, manager_files

# Options of NVIDIA's own subnet manager, by how they begin.
_OTHER_DIALECT = re.compile(
    r"ar_|adaptive_timeout|shield_|hbf_|pfrn_|virt_|sharp_|aguid_|n2n_|vs_key|cc_key_enable|ppcc|find_roots_color|"
    r"max_cas_on_spine|planarized_|dfp_|enable_sa|periodic_key|port_recovery|light_sweep|drop_unreachable|additional_gi"
)
_READERS = {  # which engines read a list
    "root_guid_file": ("updn", "dnup", "ftree"), "cn_guid_file": ("ftree", "dfsssp"),
    "io_guid_file": ("ftree", "dfsssp"), "torus_config": ("torus-2QoS",),
    "guid_routing_order_file": ("minhop", "updn", "dnup"),
}  # fmt: skip
_RENDERED = {
    "root_guid_file": "root_guids", "cn_guid_file": "cn_guids", "io_guid_file": "io_guids",
    "guid_routing_order_file": "guid_routing_order", "torus_config": "torus-2QoS.conf",
    "partition_config_file": "partitions.conf", "prefix_routes_file": "prefix-routes.conf",
    "node_name_map_name": "node-name-map", "qos_policy_file": "qos-policy.conf",
}  # fmt: skip


@rule("FG810", Severity.ERROR, "An option that OpenSM does not know", Basis.SCHEMA)
def unknown_option(fabric: Fabric) -> Iterator[Defect]:
    """What: every line of opensm.conf begins with the name of an option of opensm 3.3.23, in the same letters.

    Why: OpenSM names an unknown option on standard output only, never in its log, and starts without it. Options of
    NVIDIA's subnet manager are unknown to it, and the reverse.

    Example: ar_mode 1

    Fix: correct the name, or leave the option out.

    Source: opensm 3.3.23, osm_subn_parse_conf_file; its table of options.
    """
    for manager in manager_files(fabric):
        for line in manager.content.lines:
            name = line.name.text
            if name in option_facts():
                continue
            close = get_close_matches(name, option_facts(), 1)
            hint = f"did you mean {close[0]}?" if close else "leave it out"
            if _OTHER_DIALECT.match(name):
                hint = "it is an option of NVIDIA's own subnet manager (UFM): leave it out"
            place = manager.subnet.place(manager.name, line.name)
            yield Defect(place, f"opensm {VERSION} has no option {name!r}, and starts without it", hint)


@rule("FG811", Severity.ERROR, "A value that OpenSM does not take as it stands", Basis.SCHEMA)
def illegal_value(fabric: Fabric) -> Iterator[Defect]:
    """What: booleans are TRUE or FALSE in capitals, numbers are numbers within their range, words are those that the
    option has; name and value stand without `=` between them, and no option stands twice.

    Why: `true`, `yes` and 1 are FALSE to OpenSM, without a word. Of what else it refuses it takes the default, with a
    word on standard output alone; max_op_vls 9 it takes as it is.

    Example: qos true

    Fix: write the value as OpenSM has it.

    Source: opensm 3.3.23, opts_parse_boolean and osm_subn_verify_config; measured with the real one.
    """
    for manager in manager_files(fabric):
        counts = Counter(line.name.text for line in manager.content.lines)
        for line in manager.content.lines:
            name, text = line.name.text, line.value.text
            if name not in option_facts():
                continue
            place = manager.subnet.place(manager.name, line.value if text else line.name, name)
            if not text:
                yield Defect(place, f"{name} has no value", "give one, or leave the line out")
            elif text not in UNSET and (problem := option_problem(name, text)):
                yield Defect(place, problem, f"opensm's default is {option_facts()[name].default}")
            if counts[name] > 1 and line is not manager.content.options[name]:
                yield Defect(place, f"{name} stands again below, and that line counts", "keep one of them")


@rule("FG817", Severity.ERROR, "Packets that are never given up")
def endless_lifetime(fabric: Fabric) -> Iterator[Defect]:
    """What: packet_life_time and the head_of_queue_lifetimes are below 0x14, and the vl_stall_counts are not 0. Where
    the switches stand in tiers, a lifetime of 0x14 and more is a warning.

    Why: 0x14 means no limit. A host that hangs then holds up all that waits behind it, and a credit loop never drains:
    the subnet stands still until somebody pulls a cable. A stall count of 0 is not defined.

    Example: head_of_queue_lifetime 0x14

    Fix: OpenSM's defaults: 0x12 in switches, 0x10 towards hosts.

    Source: opensm 3.3.23, text of the options; InfiniBand Architecture Specification, volume 1, section 18.2.5.4.
    """
    for manager in manager_files(fabric):
        for name in ("packet_life_time", "head_of_queue_lifetime", "leaf_head_of_queue_lifetime"):
            if manager.content.number(name) > LAST_LIFETIME:
                message = f"{name} {manager.content.text(name)} has no end: what waits is never dropped"
                severity = Severity.ERROR if manager.subnet.kind in (OTHER, None) else Severity.WARNING
                hint = f"at most 0x{LAST_LIFETIME:x}; OpenSM's default is {option_facts()[name].default}"
                yield Defect(manager.place(name), message, hint, severity=severity)
        for name in ("vl_stall_count", "leaf_vl_stall_count"):
            if manager.content.number(name) == 0:
                yield Defect(manager.place(name), f"{name} 0 is not defined", "OpenSM's default is 0x07")


@rule("FG818", Severity.ERROR, "opensm.conf and the files beside it do not belong together")
def files_beside(fabric: Fabric) -> Iterator[Defect]:
    """What: every file that opensm.conf names lies beside it and is named by an absolute path of one folder; and what
    lies there under its usual name is named, where the engine reads it. Without a line OpenSM takes its own place in
    /etc/opensm.

    Why: OpenSM goes on without a file that it does not find: without partitions.conf every port is a full member of
    0x7fff, without a list of roots it guesses them, without torus-2QoS.conf it falls back to minhop.

    Example: partition_config_file /etc/opensm/partitions.cfg, and the file is partitions.conf.

    Fix: correct the path, add the file, or name it.

    Source: opensm 3.3.23, its table of options (defaults of file names); opensm(8).
    """
    for subnet in managed_subnets(fabric):
        for manager in subnet.managers:
            yield from _absent(subnet, manager)
            yield from _unread(subnet, manager)


def _absent(subnet: ManagedSubnet, manager: ManagerFile) -> Iterator[Defect]:
    folders: Counter[str] = Counter()
    for name in READ_FILES:
        line = manager.content.options.get(name)
        if line is None or line.value.text in UNSET:
            continue
        folder, slash, file = line.value.text.rpartition("/")
        place = subnet.place(manager.name, line.value, name)
        usual = folders.most_common(1)[0][0] if folders else folder
        if not line.value.text.startswith("/"):
            yield Defect(place, f"{line.value} is no absolute path: it is looked for where OpenSM was started", "")
        elif folder != usual:
            yield Defect(
                place, f"{line.value} lies in another folder than the files above, {usual}", "one folder for all"
            )
        elif subnet.text(file) is None:
            yield Defect(
                place, f"there is no {file} here, and OpenSM goes on without", "add the file, or correct the path"
            )
        folders[folder if slash else usual] += 1


def _unread(subnet: ManagedSubnet, manager: ManagerFile) -> Iterator[Defect]:
    folders = {
        line.value.text.rpartition("/")[0]
        for name, line in manager.content.options.items()
        if name in READ_FILES and line.value.text not in UNSET
    }
    for name, file in _RENDERED.items():
        named = manager.content.text(name)
        if subnet.text(file) is None or (name in manager.content.options and named):
            continue
        if name in _READERS and not set(_READERS[name]) & set(manager.engines):
            continue
        if name == "qos_policy_file" and not manager.content.is_true("qos"):
            continue
        default = option_facts()[name].default
        if default not in UNSET and folders <= {default.rpartition("/")[0]}:
            continue  # it is where OpenSM looks by itself
        where = f"OpenSM looks for {named} instead" if named else "nobody reads it"
        severity = Severity.ERROR if name in ("partition_config_file", "torus_config") else Severity.WARNING
        yield Defect(manager.place(name), f"{file} is here, and {where}", f"name it with {name}", severity=severity)
