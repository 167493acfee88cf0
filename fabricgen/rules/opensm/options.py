"""Rules on the options of opensm.conf: names, values, lifetimes and files."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from fabricgen.c_numbers import c_number
from fabricgen.findings import Severity
from fabricgen.opensm.opensm_conf import READ_FILES, READERS, UNSET
from fabricgen.opensm.options import (
    CHOICES,
    FIRST_LIFETIME,
    LAST_LIFETIME,
    VERSION,
    OpensmEngine,
    lifetime_ms,
    option_facts,
    option_problem,
)
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import OTHER, ManagedSubnet, ManagerFile, managed_subnets, manager_files

# The first letters of options of NVIDIA's subnet manager.
_OTHER_DIALECT = re.compile(
    r"ar_|adaptive_timeout|shield_|hbf_|pfrn_|virt_|sharp_|aguid_|n2n_|vs_key|cc_key_enable|ppcc|find_roots_color|"
    r"max_cas_on_spine|planarized_|dfp_|enable_sa|periodic_key|port_recovery|light_sweep|drop_unreachable|additional_gi"
)
_RENDERED = {
    "root_guid_file": "root_guids", "cn_guid_file": "cn_guids", "io_guid_file": "io_guids",
    "guid_routing_order_file": "guid_routing_order", "torus_config": "torus-2QoS.conf",
    "partition_config_file": "partitions.conf", "prefix_routes_file": "prefix-routes.conf",
    "node_name_map_name": "node-name-map", "qos_policy_file": "qos-policy.conf",
}  # fmt: skip


@rule("FG810", Severity.ERROR, "OpenSM does not have an option", Basis.SCHEMA)
def unknown_option(fabric: Fabric) -> Iterator[Defect]:
    """What: Every line of opensm.conf starts with the exact name of an option of opensm 3.3.23.

    Why: OpenSM reports an unknown option only on standard output, not in its log, and starts without it. OpenSM does
    not support the options of NVIDIA's subnet manager.

    Example: ar_mode 1

    Fix: Correct the name, or remove the option.

    Source: opensm 3.3.23, osm_subn_parse_conf_file; its table of options.
    """
    for manager in manager_files(fabric):
        for line in manager.content.lines:
            name = line.name.text
            if name in option_facts():
                continue
            close = get_close_matches(name, option_facts(), 1)
            hint = f"did you mean {close[0]}?" if close else f"remove {name}"
            if _OTHER_DIALECT.match(name):
                hint = f"remove {name}: it is an option of NVIDIA's subnet manager (UFM)"
            place = manager.subnet.place(manager.name, line.name)
            yield Defect(place, f"opensm {VERSION} has no option {name!r} and starts without it", hint)


@rule("FG811", Severity.ERROR, "OpenSM does not use a value as written", Basis.SCHEMA)
def illegal_value(fabric: Fabric) -> Iterator[Defect]:
    """What: Booleans are TRUE or FALSE in capitals, numbers are inside their range, and words are valid for their
    option. There is no `=` between name and value, and no option is repeated.

    Why: OpenSM silently reads `true`, `yes` and 1 as FALSE. For most other invalid values it uses the default and
    reports this only on standard output. It accepts max_op_vls 9 unchanged.

    Example: qos true

    Fix: Write the value in the form that OpenSM expects.

    Source: opensm 3.3.23, opts_parse_boolean and osm_subn_verify_config; measured with opensm 3.3.23.
    """
    for manager in manager_files(fabric):
        counts = Counter(line.name.text for line in manager.content.lines)
        for line in manager.content.lines:
            name, text = line.name.text, line.value.text
            if name not in option_facts():
                continue
            place = manager.subnet.place(manager.name, line.value if text else line.name, name)
            if not text:
                yield Defect(place, f"{name} has no value", "add a value, or remove the line")
            elif (problem := option_problem(name, text)) and not _is_unset(name, text):
                yield Defect(
                    place, problem, f"correct the value; the default of opensm is {option_facts()[name].default}"
                )
            if counts[name] > 1 and line is not manager.content.options[name]:
                yield Defect(place, f"a later line with {name} overrides this line", "remove one of the lines")


def _is_unset(name: str, text: str) -> bool:
    """Whether an option is a word that may have no value."""
    return text in UNSET and option_facts()[name].type == "charp" and name not in CHOICES


# Options whose effect is a finding of another rule.
_ELSEWHERE = ("disable_multicast", "no_clients_rereg")
# Bits of force_link_speed and force_link_speed_ext -> Mb/s of a lane. 15, 31: all that a port supports; 30: no
# extended speed. Other lanes than these are 10 Gb/s at most.
_LANE_MBPS = {1: 2_500, 2: 5_000, 4: 10_000}
_EXTENDED_LANE_MBPS = {1: 14_062, 2: 25_781, 4: 53_125}
_LANES, _ANY, _ANY_EXTENDED, _NOT_EXTENDED = 4, (0, 15), 31, (0, 30)
_LANES_OF_WIDTH = {1: 1, 2: 4, 16: 2}  # bits of force_link_width; 4 and 8 are more lanes than a cable has
_ANY_WIDTH, _FASTEST_LANE_MBPS = (0, 255), 106_250
_LONGEST_SWEEP_S = 3600
_MULTICAST = 0xFF << 56  # addresses of groups begin with these bits


@rule("FG854", Severity.ERROR, "An option of opensm.conf breaks the subnet")
def harmful_options(fabric: Fabric) -> Iterator[Defect]:
    """What: opensm.conf of every manager has no value that OpenSM accepts, and that a subnet should not have: an
    inactive manager, one that ignores the others, no sweep after a trap, link speeds or widths below those of the
    cables, a subnet_prefix of multicast addresses.

    Why: OpenSM does what the file says, also if all managers of a subnet have the same value. With sm_inactive TRUE on
    the master and the standby no manager ever sweeps, and no port gets a LID.

    Example: sm_inactive TRUE

    Fix: Remove the line. The defaults of OpenSM are right.

    Source: opensm 3.3.23, texts of the options in osm_subnet.c, osm_state_mgr.c, osm_link_mgr.c (force_link_speed,
    force_link_width), osm_sa_path_record.c (osm_pr_rcv_process); measured: transaction_timeout 0.
    """
    for manager in manager_files(fabric):
        for name, line in manager.content.options.items():
            fact = option_facts().get(name)
            breaks = fact.breaks if fact and name not in _ELSEWHERE else None
            if fact and breaks and _same_value(line.value.text, breaks.value):
                message = f"{name} is {line.value.text}: {breaks.effect}"
                severity = Severity.ERROR if breaks.is_error else Severity.WARNING
                hint = f"remove {name}; the default of opensm is {fact.default}"
                yield Defect(manager.place(name), message, hint, severity=severity)
        yield from _slow_links(manager)
        yield from _narrow_links(manager)
        if (prefix := manager.content.number("subnet_prefix")) & _MULTICAST == _MULTICAST:
            message = (
                f"subnet_prefix is 0x{prefix:016x}: addresses that begin with ff are those of multicast groups, so "
            )
            message += "OpenSM finds no path to a port"
            yield Defect(manager.place("subnet_prefix"), message, "use a prefix such as 0xfec0000000000001")
        if (sweep_s := manager.content.number("sweep_interval")) > _LONGEST_SWEEP_S:
            message = f"sweep_interval is {sweep_s} s: a change whose trap is lost stays unnoticed until then"
            hint = f"remove sweep_interval; the default of opensm is {option_facts()['sweep_interval'].default}"
            yield Defect(manager.place("sweep_interval"), message, hint, severity=Severity.WARNING)


def _same_value(text: str, value: str) -> bool:
    if value.isdecimal():
        return c_number(text) == int(value)
    return (text == "TRUE") is (value == "TRUE")  # only TRUE is true


def _slow_links(manager: ManagerFile) -> Iterator[Defect]:
    """Forced speeds below those of the adapters' cables. A link of 200 Gb/s and more needs the extended speeds."""
    fastest = max((nic.speed_mbps for _, nic in manager.subnet.adapters.values()), default=0)
    speed, extended = (manager.content.number(name) for name in ("force_link_speed", "force_link_speed_ext"))
    if extended in _NOT_EXTENDED:
        lane, name = (10_000 if speed in _ANY else _fastest(speed, _LANE_MBPS)), "force_link_speed_ext"
    elif extended != _ANY_EXTENDED:
        lane, name = _fastest(extended, _EXTENDED_LANE_MBPS), "force_link_speed_ext"
    elif speed not in _ANY:
        lane, name = _fastest(speed, _LANE_MBPS), "force_link_speed"
    else:
        return
    if lane and lane * _LANES < fastest * _ALMOST:
        message = (
            f"{name} is {manager.content.text(name)}: ports offer at most {lane * _LANES / 1000:g} Gb/s, but cables "
        )
        message += f"of the subnet have {fastest // 1000} Gb/s"
        default = option_facts()[name].default
        yield Defect(manager.place(name), message, f"remove {name}; the default of opensm is {default}")


def _narrow_links(manager: ManagerFile) -> Iterator[Defect]:
    """A forced width with too few lanes for the adapters' cables, or only with more lanes than they have."""
    width = manager.content.number("force_link_width")
    fastest = max((nic.speed_mbps for _, nic in manager.subnet.adapters.values()), default=0)
    lanes = max((lanes for bit, lanes in _LANES_OF_WIDTH.items() if width & bit), default=0)
    if width in _ANY_WIDTH or lanes * _FASTEST_LANE_MBPS >= fastest * _ALMOST:
        return
    offer = f"use at most {lanes} of {_LANES} lanes" if lanes else f"do not use the {_LANES} lanes of a cable"
    message = f"force_link_width is {width}: ports {offer}, but cables of the subnet have {fastest // 1000} Gb/s"
    default = option_facts()["force_link_width"].default
    hint = f"remove force_link_width; the default of opensm is {default}"
    yield Defect(manager.place("force_link_width"), message, hint)


_ALMOST = 0.9  # 4 x 53.125 Gb/s is a link of 200 Gb/s: lane rates are before the coding


def _fastest(bits: int, lanes: Mapping[int, int]) -> int:
    return max((mbps for bit, mbps in lanes.items() if bits & bit), default=0)


_EFFECTS = {
    "packet_life_time": "switches drop packets that only wait for their turn",
    "head_of_queue_lifetime": "switches drop packets that only wait for their turn",
    "leaf_head_of_queue_lifetime": "switches drop packets that only wait for their turn",
    "subnet_timeout": "connections of rdma_cm send packets again that only wait for their turn",
}


@rule("FG817", Severity.ERROR, "A packet lifetime has no limit, or is too short")
def endless_lifetime(fabric: Fabric) -> Iterator[Defect]:
    """What: packet_life_time and both head_of_queue_lifetime options are below 0x14, and the vl_stall_count options are
    not 0. On trees, a lifetime of 0x14 or more is a warning. So is a lifetime or a subnet_timeout below 0x0c.

    Why: 0x14 means no limit. A stuck host then blocks all packets behind its own, and a credit loop never drains: the
    subnet stops until an operator removes a cable. A stall count of 0 is not defined. 0x0c is 17 ms: with less, an
    incast to one port loses packets, and each loss stops its connection until a timeout.

    Example: head_of_queue_lifetime 0x14

    Fix: Use the defaults of OpenSM: 0x12 in switches, 0x10 towards hosts.

    Source: opensm 3.3.23, text of the options, osm_sa_path_record.c (pkt_life); InfiniBand Architecture Specification,
    volume 1, section 18.2.5.4; torvalds/linux drivers/infiniband/core/cm.c, cm_ack_timeout.
    """
    for manager in manager_files(fabric):
        for name, effect in _EFFECTS.items():
            if (code := manager.content.number(name)) < FIRST_LIFETIME:
                message = f"{name} is {manager.content.text(name)}, which is {lifetime_ms(code):.3g} ms: {effect}"
                default = option_facts()[name].default
                hint = f"set {name} to at least 0x{FIRST_LIFETIME:x}; the default of opensm is {default}"
                yield Defect(manager.place(name), message, hint, severity=Severity.WARNING)
        for name in ("packet_life_time", "head_of_queue_lifetime", "leaf_head_of_queue_lifetime"):
            if manager.content.number(name) > LAST_LIFETIME:
                message = f"{name} is {manager.content.text(name)}: switches never drop a blocked packet"
                severity = Severity.ERROR if manager.subnet.kind in (OTHER, None) else Severity.WARNING
                default = option_facts()[name].default
                hint = f"set {name} to at most 0x{LAST_LIFETIME:x}; the default of opensm is {default}"
                yield Defect(manager.place(name), message, hint, severity=severity)
        for name in ("vl_stall_count", "leaf_vl_stall_count"):
            if manager.content.number(name) == 0:
                yield Defect(manager.place(name), f"{name} is 0, which is not defined", f"set {name} to 0x07")


@rule("FG818", Severity.ERROR, "opensm.conf does not match the files beside it")
def files_beside(fabric: Fabric) -> Iterator[Defect]:
    """What: opensm.conf names all files in one folder by absolute paths, and these files exist beside it. It names
    every file with a usual name that its engine reads, and no list that its engines ignore. Without an option OpenSM
    reads the file in /etc/opensm. In a folder of one's own, a file that the defaults of OpenSM name may be missing, as
    after `opensm -c`.

    Why: OpenSM continues without a missing file. Without partitions.conf every port is a full member of 0x7fff, without
    a list of roots OpenSM selects roots by itself, and without torus-2QoS.conf it falls back to minhop.

    Example: partition_config_file is /etc/opensm/partitions.cfg, but the file is partitions.conf.

    Fix: Correct the path, add the file, or add the option that names it.

    Source: opensm 3.3.23, its table of options (defaults of file names); opensm(8).
    """
    for subnet in managed_subnets(fabric):
        for manager in subnet.managers:
            yield from _missing(subnet, manager)
            yield from _unread(subnet, manager)
            yield from _for_other_engines(manager)


def _missing(subnet: ManagedSubnet, manager: ManagerFile) -> Iterator[Defect]:
    folders: Counter[str] = Counter()
    for name in READ_FILES:
        line = manager.content.options.get(name)
        if line is None or line.value.text in UNSET:
            continue
        folder, slash, file = line.value.text.rpartition("/")
        place = subnet.place(manager.name, line.value, name)
        usual = folders.most_common(1)[0][0] if folders else folder
        if not line.value.text.startswith("/"):
            message = f"{line.value} is not an absolute path: OpenSM looks in the folder where it was started"
            yield Defect(place, message, "write an absolute path")
        elif folder != usual:
            message = f"{line.value} is not in the folder of the files above, {usual}"
            yield Defect(place, message, f"write {usual}/{file}")
        elif subnet.text(file) is None and manager.content.needs(name, is_rendered=subnet.wiring is not None):
            message = f"there is no {file} beside {manager.name}, and OpenSM continues without it"
            yield Defect(place, message, "add the file, or correct the path")
        folders[folder if slash else usual] += 1


def _for_other_engines(manager: ManagerFile) -> Iterator[Defect]:
    """An option that only other engines read: routing_engine is not the one for which the file was written."""
    if not all(engine in tuple(OpensmEngine) for engine in manager.engines):
        return  # FG812 reports the unknown engine
    for name, readers in READERS.items():
        line = manager.content.options.get(name)
        if line and not manager.content.is_default(name) and not manager.content.reads(name):
            message = f"{name} is set, but only {', '.join(readers)} read it, and routing_engine has none of them"
            hint = "add the engine to routing_engine, or remove the option"
            yield Defect(manager.place(name), message, hint, severity=Severity.WARNING)


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
        if not manager.content.reads(name):
            continue
        default = option_facts()[name].default
        is_null = name in manager.content.options and name != "partition_config_file"  # of which NULL is the default
        if default not in UNSET and folders <= {default.rpartition("/")[0]} and not is_null:
            continue  # OpenSM reads this file by default
        effect = f"OpenSM looks for {named} instead" if named else "OpenSM does not read it"
        severity = Severity.ERROR if name in ("partition_config_file", "torus_config") else Severity.WARNING
        message, hint = f"{file} exists, but {effect}", f"set {name} to the path of {file}"
        yield Defect(manager.place(name), message, hint, severity=severity)
