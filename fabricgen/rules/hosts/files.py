"""Rules on the files of hosts: missing files, unknown settings and names of NICs."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

from fabricgen.bundle.host_settings import judged_files, nccl_device_selected, nccl_selects, nvshmem_boolean
from fabricgen.findings import Severity
from fabricgen.platforms.catalog import nic_model
from fabricgen.platforms.rdma_names import NVSHMEM_PREFIX, common_part
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import HostFiles, host_groups
from fabricgen.units import whole_number
from fabricgen.vocabulary import NicSettings, Purpose, RdmaNames, Technology

# The settings of roce/<plane>.conf by the type of their values.
_NUMBERS = ("TOS", "CNP_DSCP", "CNP_PRIORITY", "CABLE_M")
_TEXTS = ("INTERFACES", "TRUST", "PFC", "DSCP_PRIORITY")
_OPTIONAL = ("STALL_MS",)
# systemd.link(5), [Match]: further conditions.
_MATCHES = (
    "OriginalName", "MACAddress", "PermanentMACAddress", "Driver", "Type", "Kind", "Property", "Host", "Architecture",
    "Virtualization", "Firmware", "Credential", "KernelCommandLine", "KernelVersion",
)  # fmt: skip
NVSHMEM, HCA_PREFIX = "nvshmem.conf", "NVSHMEM_HCA_PREFIX"
RDMA_RULES = "udev/60-rdma-persistent-naming.rules"
_UID_SOCKETS = "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME"  # read by NCCL's code in NVSHMEM's bootstrap
SCRIPT, UNIT = "fabricgen-roce", "fabricgen-roce@.service"


@rule("FG900", Severity.ERROR, "A host file or setting is missing or unknown", Basis.SCHEMA)
def host_files(fabric: Fabric) -> Iterator[Defect]:
    """What: hosts/<group>/roce/<plane>.conf has exactly the settings that fabricgen-roce reads, with valid numbers. The
    script, its unit and the files for NCCL and UCX exist. Each host has a netplan file. The reader of each file reads
    every line as it looks: sh, NCCL and UCX have different rules for blanks, quotes and carriage returns.

    Why: Without a setting the NIC keeps the default of its firmware: no PFC and no marking.

    Example: roce/compute.conf has TRUST = dscp, which sh takes for the command TRUST.

    Fix: Render the file again, or correct the line.

    Source: templates/hosts/fabricgen-roce.j2, which reads the settings; POSIX.1-2017, Shell Command Language;
    NVIDIA/nccl@5067397 src/misc/param.cc (setEnvFile); openucx/ucx@9466d10 src/ucs/config/ini.c.
    """
    for group in host_groups(fabric):
        yield from _unread_lines(group)
        for plane in group.lossless_planes:
            yield from _settings(group, f"roce/{plane.name}.conf")
        for file, what in (
            ((SCRIPT, "script that applies"), (UNIT, "unit that applies"))
            if group.lossless_planes and group.nic_settings == NicSettings.SCRIPT
            else ()
        ):
            if file not in group.files.files:
                yield Defect(group.place(file), f"the {what} the settings is missing", _RENDER)
        for file in (group.files.nccl_file, "ucx.conf") if group.model and group.model.gpus else ():
            compute = group.nics(lambda plane: plane.purpose == Purpose.COMPUTE)
            if compute and file not in group.files.files:
                yield Defect(group.place(file), "the settings of jobs for the network are missing", _RENDER)
        names = {host.name for host in group.hosts}
        for host in group.hosts:
            is_expected = any(
                group.planes[nic.plane].technology == Technology.ROCE and group.is_set_up(nic.name) for nic in host.nics
            )
            if is_expected and f"netplan/{host.name}.yaml" not in group.files.files:
                yield Defect(group.place(f"netplan/{host.name}.yaml"), "the host has no netplan file", _RENDER)
        for file in sorted(group.files.files):
            path = PurePosixPath(file)
            if file.startswith("netplan/") and path.stem not in names:
                yield Defect(group.place(file), f"the group has no host {path.stem}", "remove the file")


@rule("FG927", Severity.ERROR, "netplan refuses the file of a host", Basis.SCHEMA)
def netplan_refuses(fabric: Fabric) -> Iterator[Defect]:
    """What: The netplan file of a host has only keys that netplan knows, for the network, its Ethernet interfaces,
    bonds and VLANs, their routes and rules, and values of the kind that netplan takes: booleans, numbers, lists,
    renderers.

    Why: netplan refuses a file with an unknown key or a wrong value, and then configures no interface of any file.

    Example: rail0 has the key adresses, or optional: maybe.

    Fix: Correct the key or the value.

    Source: canonical/netplan@e9dd90a9 src/parse.c (network_handlers, ethernet_def_handlers, bond_params_handlers,
    routes_handlers, ip_rules_handlers, handle_generic_bool, handle_generic_guint).
    """
    for group in host_groups(fabric):
        for host in group.hosts:
            for found in group.files.refusals(host.name):
                yield Defect(group.place(f"netplan/{host.name}.yaml", found.path), found.message, found.hint)


_RENDER = "run `fabricgen render`"


def _unread_lines(group: HostFiles) -> Iterator[Defect]:
    for file in judged_files(group.files.files):
        for fault in group.files.read(file).faults:
            severity = Severity.ERROR if fault.is_error else Severity.WARNING
            yield Defect(group.line(file, fault.line, fault.word), fault.message, fault.hint, severity=severity)


def _settings(group: HostFiles, file: str) -> Iterator[Defect]:
    if file not in group.files.files:
        yield Defect(group.place(file), "the RoCE settings of the plane are missing", _RENDER)
        return
    found = group.files.settings(file)
    unread = {fault.word for fault in group.files.read(file).faults}
    for key in (*_NUMBERS, *_TEXTS):
        if key not in found and key not in unread and group.files.read(file).is_complete:
            yield Defect(group.place(file, key), f"{key} is missing", _RENDER)
    for key, text in found.items():
        if key not in (*_NUMBERS, *_TEXTS, *_OPTIONAL):
            yield Defect(group.place(file, key), f"fabricgen-roce has no setting {key}", f"remove or correct {key}")
        elif key in (*_NUMBERS, *_OPTIONAL) and (whole_number(text) is None or text != str(int(text))):
            yield Defect(group.place(file, key), f"{key} is {text!r}, expected a decimal number", _RENDER)


@rule("FG901", Severity.ERROR, "Host settings do not list the NICs of the hosts")
def host_devices(fabric: Fabric) -> Iterator[Defect]:
    """What: INTERFACES in the settings of a plane lists its NICs. NCCL_IB_HCA, in any form, and UCX_NET_DEVICES select
    exactly the RDMA devices of the compute NICs. So does NVSHMEM_HCA_LIST, with
    NVSHMEM_ENABLE_NIC_PE_MAPPING=1, and NVSHMEM_HCA_PREFIX is part of their names. NCCL_SOCKET_IFNAME lists the in-band
    NICs; without any, it selects no NIC of a compute plane. NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME selects none, either.

    Why: A NIC that is not listed keeps its defaults and is lossy. A job that uses a storage NIC sends collectives over
    the wrong network. Without the leading =, mlx5_1 also matches mlx5_10 and mlx5_11. NCCL uses sockets for the set-up
    of a job; over a rail they end with it.

    Example: NCCL_IB_HCA is mlx5_0,mlx5_1 on a DGX H100, but its second rail is mlx5_3.

    Fix: List the devices of the host model, as rendered.

    Source: NVIDIA/nccl@5067397 src/misc/param.cc and net_ib (device lists); NVIDIA/nvshmem@2d7d25f
    src/modules/transport/common/env_defs.h; DGX H100 User Guide, Network Modules.
    """
    for group in host_groups(fabric):
        for plane in group.lossless_planes:
            file = f"roce/{plane.name}.conf"
            found = group.files.settings(file).get("INTERFACES")
            wanted = [nic for nic in group.nics(lambda one, plane=plane: one is plane) if group.is_set_up(nic)]  # type: ignore[misc]
            if found is not None and sorted(found.split()) != sorted(wanted):
                nics = " ".join(wanted)
                message = f"INTERFACES is {found or 'empty'}, but the NICs of plane {plane.name} are {nics}"
                yield Defect(group.place(file, "INTERFACES"), message, f'set INTERFACES to "{nics}"')
        compute = [nic for nic in group.nics(lambda plane: plane.purpose == Purpose.COMPUTE) if nic in group.adapters]
        devices = [group.adapters[nic].rdma for nic in compute]
        sockets = [nic for nic in group.nics(lambda plane: plane.purpose == Purpose.IN_BAND) if nic in group.adapters]
        rails = [nic for nic in compute if group.is_set_up(nic)]
        if devices and all(devices):
            yield from _nccl_devices(group, devices)
            ports = ",".join(f"{one}:1" for one in devices)
            yield from _listed(group, "ucx.conf", "UCX_NET_DEVICES", ports, in_any_order)
            yield from _listed(group, NVSHMEM, "NVSHMEM_HCA_LIST", ports, without_ports)
            yield from _listed(group, NVSHMEM, "NVSHMEM_ENABLE_NIC_PE_MAPPING", "1", nvshmem_boolean)
            yield from prefix_defects(group, NVSHMEM, devices)
        if sockets:
            yield from _in_band(group, group.with_addresses(sockets))
        else:
            found = group.files.settings(group.files.nccl_file).get("NCCL_SOCKET_IFNAME")
            yield from _sockets(group, group.files.nccl_file, "NCCL_SOCKET_IFNAME", rails, found)
        if found := group.files.settings(NVSHMEM).get(_UID_SOCKETS):
            yield from _sockets(group, NVSHMEM, _UID_SOCKETS, rails, found)


def _nccl_devices(group: HostFiles, devices: list[str]) -> Iterator[Defect]:
    """NCCL_IB_HCA in any form that selects exactly the compute NICs among the devices of the model."""
    file, key = group.files.nccl_file, "NCCL_IB_HCA"
    found = group.files.settings(file).get(key)
    others = [nic.rdma for nic in group.adapters.values() if nic.rdma and nic.rdma not in devices]
    chosen = [name for name in (*devices, *others) if found and nccl_device_selected(found, name)]
    if file not in group.files.files or (found and chosen == devices):
        return
    wanted = "=" + ",".join(devices)
    if found is None or not chosen:
        message = f"{key} is {'missing' if found is None else repr(found)}, expected {wanted!r} for the host model"
    else:
        wrong = [f"without {name}" for name in devices if name not in chosen]
        wrong += [f"with {name}" for name in others if name in chosen]
        message = f"{key} is {found!r}, expected {wanted!r} for the host model: it selects devices {', '.join(wrong)}"
    yield Defect(group.place(file, key), message, f"set {key} to {wanted}")


def prefix_defects(group: HostFiles, file: str, devices: Sequence[str]) -> Iterator[Defect]:
    """Transports of NVSHMEM from the GPU skip devices without the prefix in their name."""
    found = group.files.settings(file).get(HCA_PREFIX)
    prefix = NVSHMEM_PREFIX if found is None else found
    skipped = [name for name in devices if prefix not in name]
    if file in group.files.files and skipped:
        shown = f"missing, and so {prefix}" if found is None else repr(found)
        message = f"{HCA_PREFIX} is {shown}: NVSHMEM skips {', '.join(skipped)}"
        part = common_part(list(devices))
        hint = f"set {HCA_PREFIX} to {part}" if part else "give the devices names with a common begin"
        yield Defect(group.place(file, HCA_PREFIX), message, hint)


def _sockets(group: HostFiles, file: str, key: str, rails: list[str], found: str | None) -> Iterator[Defect]:
    """The rails that NCCL or NVSHMEM may select for sockets, on hosts with RoCE."""
    ethernet = set(group.nics(lambda plane: plane.technology == Technology.ROCE))
    chosen = [nic for nic in rails if nic in ethernet and nccl_selects(found, nic)]
    if file in group.files.files and chosen:
        shown = "missing" if found is None else found
        names = ", ".join(chosen[:3]) + (", …" if len(chosen) > 3 else "")
        library = key.partition("_")[0]
        message = f"{key} is {shown}: {library} may use {names} for its sockets, so jobs cannot start when it fails"
        hint = f"set {key} to the interface of the management network, such as =eno1"
        yield Defect(group.place(file, key), message, hint, severity=Severity.WARNING)


def _in_band(group: HostFiles, expected: list[str]) -> Iterator[Defect]:
    """NCCL_SOCKET_IFNAME in any form that selects exactly the in-band interfaces among those of the model."""
    file, key = group.files.nccl_file, "NCCL_SOCKET_IFNAME"
    found = group.files.settings(file).get(key)
    names = dict.fromkeys((*expected, *group.with_addresses(list(group.adapters))))
    chosen = [name for name in names if nccl_selects(found, name)]
    if file in group.files.files and (found is None or chosen != expected):
        wanted = "=" + ",".join(expected)
        message = f"{key} is {'missing' if found is None else repr(found)}, expected {wanted!r} for the host model"
        yield Defect(group.place(file, key), message, f"set {key} to {wanted}")


def in_any_order(text: str) -> str:
    """UCX selects by distance and speed, and not by the place in the list."""
    return ",".join(sorted(text.split(",")))


def without_ports(text: str) -> str:
    """A device of NVSHMEM without a port has all of its ports; NICs here have one."""
    return ",".join(entry.removesuffix(":1") for entry in text.split(","))


def _listed(group: HostFiles, file: str, key: str, wanted: str, read: Callable[[str], object]) -> Iterator[Defect]:
    found = group.files.settings(file).get(key)
    if file in group.files.files and (found is None or read(found) != read(wanted)):
        message = f"{key} is {'missing' if found is None else repr(found)}, expected {wanted!r} for the host model"
        yield Defect(group.place(file, key), message, f"set {key} to {wanted}")


@rule("FG913", Severity.ERROR, "An interface name belongs to another PCI slot")
def interface_names(fabric: Fabric) -> Iterator[Defect]:
    """What: links/10-<NIC>.link assigns the name of the NIC to its PCI address in the host model.

    Why: The addresses, routes and settings of a rail belong to the name. If two names are exchanged, each NIC has an
    address in the wrong subnet and cannot reach its leaf.

    Example: 10-rail0.link has Path=pci-0000:40:00.0, which is the slot of rail 1.

    Fix: Render the file again, or correct the host model.

    Source: systemd.link(5), Path= and Name=.
    """
    for group in host_groups(fabric):
        used = set(group.nics(lambda plane: plane.technology == Technology.ROCE))
        for nic, adapter in group.adapters.items():
            file = f"links/10-{nic}.link"
            if not adapter.pci:
                continue
            if file not in group.files.files:
                if nic in used and group.is_set_up(nic):
                    message = f"{nic} has no file, so its name is the choice of the kernel"
                    yield Defect(group.place(file), message, _RENDER)
                continue
            found = group.files.settings(file)
            for key, wanted in (("Path", f"pci-{adapter.pci}"), ("Name", nic)):
                if found.get(key) != wanted:
                    message = f"{key} is {found.get(key, 'missing')}, expected {wanted} for {nic} of the host model"
                    yield Defect(group.place(file, key), message, f"set {key} to {wanted}")
            for key, text in found.items():
                if key == "NamePolicy":
                    yield Defect(
                        group.place(file, key), f"NamePolicy is {text}, and comes before Name", "remove NamePolicy"
                    )
                elif key in _MATCHES:
                    message = f"{key} is {text}: the file names {nic} only if it matches, too"
                    yield Defect(group.place(file, key), message, f"remove {key}")


@rule("FG926", Severity.ERROR, "RDMA devices get other names than jobs use", Basis.AGREEMENT)
def rdma_device_names(fabric: Fabric) -> Iterator[Defect]:
    """What: With `rdma_names: nic` the udev rules of a group give the RDMA device at each PCI address the name that is
    in the files of NCCL, UCX and NVSHMEM. No line before renames all devices. With `driver` no rule gives another name.

    Why: NCCL_IB_HCA and UCX_NET_DEVICES list devices by name. If a name belongs to another NIC, a rank uses a rail far
    from its GPU; if no device has it, NCCL uses TCP sockets.

    Example: The device at 0000:40:00.0 gets the name mlx5_rail2.

    Fix: Render the file again, and install it in /etc/udev/rules.d.

    Source: linux-rdma/rdma-core@691953d8 kernel-boot/rdma_rename.c, rdma-persistent-naming.rules; udev(7).
    """
    for group in host_groups(fabric):
        has_rules = RDMA_RULES in group.files.files
        is_named = group.hosts[0].rdma_names == RdmaNames.NIC
        found = group.files.settings(RDMA_RULES)
        unread = {fault.word for fault in group.files.read(RDMA_RULES).faults}
        used = {nic.name for host in group.hosts for nic in host.nics}
        known = [nic for name, nic in group.adapters.items() if name in used and nic.pci]
        expected = {nic.pci: nic for nic in known if (model := nic_model(nic.model)) and model.driver}
        if is_named and expected and not has_rules:
            message = "the udev rules that name RDMA devices are missing: jobs do not find them"
            yield Defect(group.place(RDMA_RULES), message, _RENDER)
            continue
        for pci, nic in expected.items():
            name = found.get(pci)
            if pci in unread or name == nic.rdma or (name is None and not is_named):
                continue
            shown = f"the name {name}" if name else "no name"
            message = f"the device of {nic.name} at {pci} gets {shown}, but jobs use {nic.rdma or 'no name'}"
            yield Defect(group.place(RDMA_RULES, pci), message, f"set the name to {nic.rdma}" if nic.rdma else _RENDER)
        for pci, name in found.items():
            taken = next((nic for nic in expected.values() if nic.rdma == name), None)
            if taken and pci not in expected:
                message = f"the device at {pci} gets the name {name}, which is that of {taken.name} at {taken.pci}"
                yield Defect(group.place(RDMA_RULES, pci), message, "remove the line")
