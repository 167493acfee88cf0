"""The subnet managers of a subnet: copies that agree, who leads, and what a failover keeps."""

from collections.abc import Iterator

from fabricgen.bundle.read import OPTIONS_NAME
from fabricgen.findings import Severity
from fabricgen.opensm.guids import guid_text
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import ManagedSubnet, managed_subnets
from fabricgen.sonic.secrets import is_secret_field

# What each manager has for itself.
_OWN = {
    "guid", "sm_priority", "log_file", "log_prefix", "log_flags", "log_max_size", "dump_files_dir", "console",
    "console_port",
}  # fmt: skip
_UP_DOWN = {"updn", "dnup", "ftree"}
_DEFAULT_PREFIX = 0xFE80000000000000
_LONGEST_FAILOVER_MS, _SHORTEST_FAILOVER_MS = 10_000, 1_000


@rule("FG833", Severity.ERROR, "Subnet managers of one subnet that do not agree")
def copies(fabric: Fabric) -> Iterator[Defect]:
    """What: every standby-N has an opensm.conf with the master's options but for guid and sm_priority (and where it
    logs to), and every other file there is a copy of the master's.

    Why: after a failover the standby programs what its own files say: other P_Keys, other routes, other LIDs, on all
    switches and while jobs run.

    Example: routing_engine updn,no_fallback in standby-1/opensm.conf, and ftree,no_fallback for the master.

    Fix: copy the master's files; change guid and sm_priority only.

    Source: torus-2QoS.conf(5), on failover; seen with two real OpenSM on one subnet.
    """
    for subnet in managed_subnets(fabric):
        master = subnet.master
        for standby in subnet.managers[1:]:
            names = master.content.options.keys() | standby.content.options.keys()
            for name in sorted(names - _OWN):
                ours, theirs = (
                    found.value.text if (found := one.content.options.get(name)) else "" for one in (master, standby)
                )
                if ours != theirs:
                    message = f"{name} is {_told(name, theirs)}, the master has {_told(name, ours)}"
                    related = ((f"{name} of the master", master.place(name)),)
                    yield Defect(standby.place(name), message, "the same for all managers", related)
        for folder in sorted(subnet.folder.glob("standby-*/")):
            if not (folder / OPTIONS_NAME).is_file():
                yield Defect(subnet.place(f"{folder.name}/{OPTIONS_NAME}"), "the standby has no opensm.conf", "")
            for file in sorted(folder.iterdir()):
                name = f"{folder.name}/{file.name}"
                if file.is_file() and file.name != OPTIONS_NAME and subnet.text(name) != subnet.text(file.name):
                    message = f"{file.name} is not the master's"
                    yield Defect(subnet.place(name), message, f"copy {file.name} of the master", ())


def _told(name: str, text: str) -> str:
    return "another" if is_secret_field("", name) or name.endswith("_key") else text or "left out"


@rule("FG834", Severity.WARNING, "Nobody knows which subnet manager leads")
def priorities(fabric: Fabric) -> Iterator[Defect]:
    """What: with several managers the master has the highest sm_priority, each standby another one below. That two are
    bound to one port is an error.

    Why: the highest priority is master, of equal ones the lowest GUID, whoever that is. A standby with more than the
    master takes over the moment it starts.

    Example: sm_priority 14 for both.

    Fix: 14 for the master, 13 for the first standby.

    Source: InfiniBand Architecture Specification, volume 1, section 14.4.1; seen with two real OpenSM: within 0.25 s.
    """
    for subnet in managed_subnets(fabric):
        for place, manager in enumerate(subnet.managers):
            for other in subnet.managers[:place]:
                ours, theirs = (one.content.number("sm_priority") for one in (manager, other))
                related = ((f"{other.name} has {theirs}", other.place("sm_priority")),)
                if ours >= theirs:
                    what = "the same as" if ours == theirs else "higher than"
                    message = f"sm_priority {ours} is {what} that of {other.name}"
                    yield Defect(manager.place("sm_priority"), message, "less than those before", related)
                guid = manager.content.number("guid")
                if guid and guid == other.content.number("guid"):
                    message = f"{guid_text(guid)} is the port of {other.name}, too"
                    hint = "a port of its own host"
                    yield Defect(manager.place("guid"), message, hint, severity=Severity.ERROR)


@rule("FG835", Severity.WARNING, "A failover that takes long, or renumbers the fabric")
def failover(fabric: Fabric) -> Iterator[Defect]:
    """What: with several managers sminfo_polling_timeout times polling_retry_number is 1 to 10 s, and
    honor_guid2lid_file is TRUE (else an error). reassign_lids is FALSE everywhere (else an error).

    Why: by default (10 s x 4) nobody manages the subnet for 40 s after the master died. A standby that does not honor
    its copy of guid2lid may give out other LIDs, which breaks every connection of every job.

    Example: sminfo_polling_timeout 10000 and polling_retry_number 4

    Fix: 1000 ms x 3, honor_guid2lid_file TRUE, and the master's guid2lid on the standbys.

    Source: opensm 3.3.23, text of the options; measured: 4.2 s with 1000 ms x 3.
    """
    for subnet in managed_subnets(fabric):
        for manager in subnet.managers:
            if manager.content.is_true("reassign_lids"):
                message = "reassign_lids TRUE renumbers the ports of a running fabric"
                yield Defect(manager.place("reassign_lids"), message, "FALSE", severity=Severity.ERROR)
            if len(subnet.managers) < 2:
                continue
            each, times = (manager.content.number(name) for name in ("sminfo_polling_timeout", "polling_retry_number"))
            slow = each * times > _LONGEST_FAILOVER_MS
            if slow or each * times < _SHORTEST_FAILOVER_MS:
                why = "nobody manages the subnet meanwhile" if slow else "a busy master is taken for dead"
                name = "sminfo_polling_timeout" if each != 1000 else "polling_retry_number"
                message = f"a standby takes over after {each} ms x {times} = {each * times / 1000:g} s: {why}"
                yield Defect(manager.place(name), message, "sminfo_polling_timeout 1000 and polling_retry_number 3")
            if not manager.content.is_true("honor_guid2lid_file"):
                message = "without honor_guid2lid_file TRUE a failover may renumber all LIDs"
                yield Defect(manager.place("honor_guid2lid_file"), message, "TRUE", severity=Severity.ERROR)


@rule("FG836", Severity.ERROR, "A subnet manager on a port where it cannot work")
def manager_port(fabric: Fabric) -> Iterator[Defect]:
    """What: guid is 0 or the port GUID of an adapter of the subnet; with updn, dnup and ftree that port is on a leaf.

    Why: OpenSM does not bind to a GUID that its host has not: it exits, with return code 0. From a spine, up-down paths
    do not lead to the other spines.

    Example: guid 0x02fab00200000f00, the node GUID.

    Fix: the port's GUID, as `ibstat -p` on the host shows it.

    Source: measured with opensm 3.3.23: osm_opensm_bind (0x2A); opensm(8), UPDN.
    """
    for subnet in managed_subnets(fabric):
        for manager in subnet.managers if subnet.ports else ():
            guid, ports = manager.content.number("guid"), subnet.ports or {}
            if guid and guid not in ports:
                what = "a node's GUID" if guid in subnet.ports_of_nodes else "no port of the subnet"
                message = f"{guid_text(guid)} is {what}: OpenSM exits, with return code 0"
                known = [guid_text(one) for one in subnet.ports_of_nodes.get(guid, ())]
                yield Defect(manager.place("guid"), message, f"its port: {', '.join(known)}" if known else "")
            elif guid and set(manager.engines) & _UP_DOWN and (leaf := _attached(subnet, guid)) is not None:
                name = (subnet.switches or {}).get(leaf, guid_text(leaf))
                message = f"the port of {ports[guid]} is on {name}, above the leaves: up-down paths miss switches"
                yield Defect(manager.place("guid"), message, "a host on a leaf")


def _attached(subnet: ManagedSubnet, port: int) -> int | None:
    """The switch that a port is plugged into, where that is above the leaves."""
    topology = subnet.topology
    if topology is None:
        return None
    row = next(number for number, one in enumerate(topology.adapters) if one.port_guid == port)
    switch = topology.switches[topology.attached_switch[row]].node_guid
    return switch if subnet.tier.get(switch, 0) > 0 else None


@rule("FG837", Severity.ERROR, "Two subnets with one prefix")
def shared_prefix(fabric: Fabric) -> Iterator[Defect]:
    """What: subnets that hosts have in common differ in subnet_prefix. Of others, one prefix for two is a warning.

    Why: software takes ports with one prefix for one network: a host on two rails or on compute and storage tries the
    wrong peers, and waits.

    Example: subnet_prefix 0xfe80000000000000 for compute and storage.

    Fix: a prefix of its own for each, such as 0xfec0000000000001.

    Source: InfiniBand Architecture Specification, volume 1, section 4.1.1; Open MPI FAQ, on subnet IDs.
    """
    first: dict[int, ManagedSubnet] = {}
    for subnet in managed_subnets(fabric):
        prefix = subnet.master.content.number("subnet_prefix")
        other = first.setdefault(prefix, subnet)
        if other is subnet:
            continue
        hosts = {host.name for host, _ in subnet.adapters.values()} & {host.name for host, _ in other.adapters.values()}
        with_hosts = f", and {len(hosts)} hosts are on both" if hosts else ""
        message = f"subnet_prefix 0x{prefix:016x} is that of {other.name}, too{with_hosts}"
        related = ((f"{other.name} has it, too", other.master.place("subnet_prefix")),)
        severity = Severity.ERROR if hosts else Severity.WARNING
        yield Defect(subnet.master.place("subnet_prefix"), message, "one of its own", related, severity)
