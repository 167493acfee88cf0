"""Rules on the managers of one subnet: equal files, priorities, failover, ports and subnet prefixes."""

from collections.abc import Iterator, Sequence

from fabricgen.bundle.read import OPTIONS_NAME
from fabricgen.c_numbers import c_number
from fabricgen.findings import Severity
from fabricgen.opensm.guids import guid_text
from fabricgen.opensm.opensm_conf import OptionFile
from fabricgen.opensm.options import option_facts
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import ManagedSubnet, managed_subnets
from fabricgen.sonic.secrets import is_secret_field

# Options that can differ between managers.
_OWN = {
    "guid", "sm_priority", "log_file", "log_prefix", "log_flags", "log_max_size", "dump_files_dir", "console",
    "console_port",
}  # fmt: skip
_UP_DOWN = {"updn", "dnup", "ftree"}
_DEFAULT_PREFIX = 0xFE80000000000000
_LONGEST_FAILOVER_MS, _SHORTEST_FAILOVER_MS = 10_000, 1_000


@rule("FG833", Severity.ERROR, "The files of a standby manager differ from the master's")
def copies(fabric: Fabric) -> Iterator[Defect]:
    """What: opensm.conf of every standby-N has the same values as the master's, except for guid, sm_priority and
    logging. A missing option has OpenSM's default. Every other file of the standby is a copy of the master's.

    Why: After a failover the standby programs its own files: other P_Keys, routes and LIDs on all switches, while jobs
    run.

    Example: routing_engine is updn,no_fallback in standby-1/opensm.conf, but ftree,no_fallback in the master's.

    Fix: Copy the files of the master, and change only guid and sm_priority.

    Source: torus-2QoS.conf(5), on failover; measured with two OpenSM on one subnet.
    """
    for subnet in managed_subnets(fabric):
        master = subnet.master
        for standby in subnet.managers[1:]:
            names = master.content.options.keys() | standby.content.options.keys()
            for name in sorted(names - _OWN):
                if _meaning(master.content, name) != _meaning(standby.content, name):
                    ours, theirs = (_shown(one.content, name) for one in (master, standby))
                    message = f"{name} is {theirs}, but the master has {ours}"
                    related = ((f"{name} of the master", master.place(name)),)
                    yield Defect(standby.place(name), message, f"set the same {name} for all managers", related)
        for folder in sorted(subnet.folder.glob("standby-*/")):
            if not (folder / OPTIONS_NAME).is_file():
                place = subnet.place(f"{folder.name}/{OPTIONS_NAME}")
                yield Defect(place, "the standby has no opensm.conf", "copy opensm.conf of the master")
            for file in sorted(folder.iterdir()):
                name = f"{folder.name}/{file.name}"
                if file.is_file() and file.name != OPTIONS_NAME and subnet.text(name) != subnet.text(file.name):
                    message = f"{file.name} differs from the file of the master"
                    yield Defect(subnet.place(name), message, f"copy {file.name} of the master")


def _meaning(content: OptionFile, name: str) -> str | int | bool:
    """What OpenSM makes of an option, so that 0x12 is 18, and a missing option is its default."""
    fact, line = option_facts().get(name), content.options.get(name)
    if fact is None:
        return line.value.text if line else ""
    text = content.text(name)
    if fact.type == "boolean":
        return text == "TRUE"
    number = None if fact.type == "charp" else c_number(text)
    return text if number is None else number


def _shown(content: OptionFile, name: str) -> str:
    if is_secret_field("", name) or name.endswith("_key"):
        return "another value"
    line = content.options.get(name)
    return line.value.text if line and line.value.text else "missing"


@rule("FG834", Severity.WARNING, "The priorities of subnet managers do not select the master")
def priorities(fabric: Fabric) -> Iterator[Defect]:
    """What: With several managers the master has the highest sm_priority, and each standby has a lower one than the
    managers before it. Two managers on the same port are an error.

    Why: The manager with the highest priority is the master; of equal priorities, the one with the lowest GUID. A
    standby with a higher priority than the master takes over as soon as it starts.

    Example: sm_priority is 14 for both managers.

    Fix: Set sm_priority to 14 for the master and 13 for the first standby.

    Source: InfiniBand Architecture Specification, volume 1, section 14.4.1; measured with two OpenSM: within 0.25 s.
    """
    for subnet in managed_subnets(fabric):
        for place, manager in enumerate(subnet.managers):
            for other in subnet.managers[:place]:
                ours, theirs = (one.content.number("sm_priority") for one in (manager, other))
                related = ((f"{other.name} has {theirs}", other.place("sm_priority")),)
                if ours >= theirs:
                    relation = "the same as" if ours == theirs else "higher than"
                    message = f"sm_priority is {ours}, {relation} in {other.name}"
                    yield Defect(manager.place("sm_priority"), message, f"set sm_priority below {theirs}", related)
                guid = manager.content.number("guid")
                if guid and guid == other.content.number("guid"):
                    message = f"guid is {guid_text(guid)}, the same as in {other.name}"
                    hint = "use a port of the manager's own host"
                    yield Defect(manager.place("guid"), message, hint, severity=Severity.ERROR)


@rule("FG835", Severity.WARNING, "A failover takes too long, or renumbers the fabric")
def failover(fabric: Fabric) -> Iterator[Defect]:
    """What: With several managers a standby takes over after 1 s to 10 s, and honor_guid2lid_file is TRUE (otherwise an
    error). no_clients_rereg and reassign_lids are FALSE for every manager (of the latter otherwise an error).

    Why: A standby takes over after polling_retry_number and one more polls without an answer. By default (10 s, 4) no
    manager controls the subnet for 50 s after the master fails. A standby that does not honor its copy of guid2lid can
    assign other LIDs, which breaks every connection of every job.

    Example: sminfo_polling_timeout is 10000 and polling_retry_number is 4.

    Fix: Set sminfo_polling_timeout to 1000, polling_retry_number to 3 and honor_guid2lid_file to TRUE, and copy the
    master's guid2lid to the standbys.

    Source: opensm 3.3.23, text of the options, osm_sm_state_mgr_polling_callback (retry_number is greater than
    polling_retry_number); measured: 4.2 s with 1000 ms and 3.
    """
    for subnet in managed_subnets(fabric):
        for manager in subnet.managers:
            if manager.content.is_true("reassign_lids"):
                message = "reassign_lids TRUE renumbers the ports of a running fabric"
                hint = "set reassign_lids to FALSE"
                yield Defect(manager.place("reassign_lids"), message, hint, severity=Severity.ERROR)
            if manager.content.is_true("no_clients_rereg"):
                effect = option_facts()["no_clients_rereg"].breaks
                message = f"no_clients_rereg is TRUE: {effect.effect if effect else ''}"
                yield Defect(manager.place("no_clients_rereg"), message, "remove no_clients_rereg")
            if len(subnet.managers) < 2:
                continue
            each, times = (manager.content.number(name) for name in ("sminfo_polling_timeout", "polling_retry_number"))
            total = each * (times + 1)
            slow = total > _LONGEST_FAILOVER_MS
            if slow or total < _SHORTEST_FAILOVER_MS:
                why = (
                    "no manager controls the subnet during this time"
                    if slow
                    else "a busy master looks like a failed one"
                )
                name = "sminfo_polling_timeout" if each != 1000 else "polling_retry_number"
                message = f"a standby takes over after {each} ms x ({times} + 1) = {total / 1000:g} s: {why}"
                hint = "set sminfo_polling_timeout to 1000 and polling_retry_number to 3"
                yield Defect(manager.place(name), message, hint)
            if not manager.content.is_true("honor_guid2lid_file"):
                message = "honor_guid2lid_file is not TRUE: a failover can change all LIDs"
                hint = "set honor_guid2lid_file to TRUE"
                yield Defect(manager.place("honor_guid2lid_file"), message, hint, severity=Severity.ERROR)


@rule("FG836", Severity.ERROR, "A subnet manager is on a port where it cannot work")
def manager_port(fabric: Fabric) -> Iterator[Defect]:
    """What: guid is the port GUID of an adapter of the subnet, or 0 if hosts have ports in no other subnet (otherwise a
    warning, or a note if no manager has one). With updn, dnup and ftree this port is on a leaf.

    Why: OpenSM exits with return code 0 if its host does not have the GUID. With 0 it takes the first port of its host
    that is up: with several subnets, that of another one, which then has the wrong files. Up-down paths from a host on
    a spine do not reach the other spines.

    Example: guid is 0x02fab00200000f00, which is the node GUID.

    Fix: Write the GUID of the port, as `ibstat -p` on the host shows it.

    Source: Measured with opensm 3.3.23: osm_opensm_bind (0x2A); opensm(8), UPDN.
    """
    subnets = managed_subnets(fabric)
    is_decided = any(manager.content.number("guid") for subnet in subnets for manager in subnet.managers)
    for subnet in subnets:
        for manager in subnet.managers if subnet.ports else ():
            guid, ports = manager.content.number("guid"), subnet.ports or {}
            if not guid and (other := _other_subnet(subnet, subnets)):
                message = f"guid is 0, but hosts have ports in {other}, too: OpenSM uses the first port that is up"
                hint = "set guid to the port of the manager's host (`managers` of the plane)"
                if is_decided:
                    yield Defect(manager.place("guid"), message, hint, severity=Severity.WARNING)
                elif subnet is subnets[0] and manager is subnet.master:  # once: no manager has a host yet
                    yield Defect(manager.place("guid"), message, hint, severity=Severity.NOTE)
            elif guid and guid not in ports:
                kind = "a node GUID" if guid in subnet.ports_of_nodes else "not a port of the subnet"
                message = f"{guid_text(guid)} is {kind}: OpenSM exits with return code 0"
                known = ", ".join(guid_text(one) for one in subnet.ports_of_nodes.get(guid, ()))
                hint = f"set guid to the port, {known}" if known else "set guid to a port of the manager's host"
                yield Defect(manager.place("guid"), message, hint)
            elif guid and set(manager.engines) & _UP_DOWN and (leaf := _attached(subnet, guid)) is not None:
                name = (subnet.switches or {}).get(leaf, guid_text(leaf))
                message = f"{ports[guid]} is on {name} above the leaves: up-down paths do not reach all switches"
                yield Defect(manager.place("guid"), message, "run the manager on a host on a leaf")


def _other_subnet(subnet: ManagedSubnet, subnets: Sequence[ManagedSubnet]) -> str:
    """A subnet in which hosts of a subnet have ports, too; "" without one."""
    hosts = {host.name for host, _ in subnet.adapters.values()}
    for other in subnets:
        if other is not subnet and any(host.name in hosts for host, _ in other.adapters.values()):
            return other.name
    return ""


def _attached(subnet: ManagedSubnet, port: int) -> int | None:
    """The switch of a port, if it is above the leaves."""
    topology = subnet.topology
    if topology is None:
        return None
    row = next(number for number, one in enumerate(topology.adapters) if one.port_guid == port)
    switch = topology.switches[topology.attached_switch[row]].node_guid
    return switch if subnet.tier.get(switch, 0) > 0 else None


@rule("FG837", Severity.ERROR, "Two subnets have the same prefix")
def shared_prefix(fabric: Fabric) -> Iterator[Defect]:
    """What: Subnets with common hosts have different values of subnet_prefix. Equal prefixes of other subnets are a
    warning.

    Why: Software treats ports with equal prefixes as one network. A host on two rails, or on compute and storage,
    connects to peers that it cannot reach, and waits.

    Example: subnet_prefix is 0xfe80000000000000 for both compute and storage.

    Fix: Set a unique prefix for each subnet, for example 0xfec0000000000001.

    Source: InfiniBand Architecture Specification, volume 1, section 4.1.1; Open MPI FAQ, on subnet IDs.
    """
    first: dict[int, ManagedSubnet] = {}
    for subnet in managed_subnets(fabric):
        prefix = subnet.master.content.number("subnet_prefix")
        other = first.setdefault(prefix, subnet)
        if other is subnet:
            continue
        hosts = {host.name for host, _ in subnet.adapters.values()} & {host.name for host, _ in other.adapters.values()}
        common = f", and {len(hosts)} hosts are in both subnets" if hosts else ""
        message = f"subnet_prefix is 0x{prefix:016x}, the same as {other.name}{common}"
        related = ((f"subnet_prefix of {other.name}", other.master.place("subnet_prefix")),)
        severity = Severity.ERROR if hosts else Severity.WARNING
        hint = "set a unique subnet_prefix for each subnet"
        yield Defect(subnet.master.place("subnet_prefix"), message, hint, related, severity)
