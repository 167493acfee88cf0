"""Small changes of a switch's tables, from which the kinds of faults in fault_kinds.py are built."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredPlane

Tables = dict[str, dict[str, dict[str, Any]]]  # table -> key -> field -> value
Change = Callable[["Scene", Tables], object]
Where = Callable[[str, dict[str, Any]], bool]  # which rows: key and fields


@dataclass(frozen=True)
class Scene:
    """A switch in its bundle, for changes that depend on its links or its plane."""

    bundle: Bundle
    name: str

    @cached_property
    def plane(self) -> WiredPlane | None:
        """The plane of the switch."""
        wired = self.bundle.devices[self.name].wired
        planes = self.bundle.wiring.planes if self.bundle.wiring else ()
        return next((plane for plane in planes if wired and plane.name == wired.plane), None)

    @cached_property
    def lossless(self) -> tuple[int, ...]:
        """The lossless priorities of the plane; the platforms' maps use the same numbers for classes and queues."""
        return tuple(sorted(self.plane.lossless)) if self.plane else ()

    @cached_property
    def far(self) -> dict[str, tuple[str, str]]:
        """Port -> (far device, its port)."""
        found = {}
        for link in self.bundle.links:
            for (name, port), far in ((link.a, link.b), (link.b, link.a)):
                if name == self.name:
                    found[port] = far
        return found

    @cached_property
    def switch_ports(self) -> tuple[str, ...]:
        """The ports that lead to other switches of the bundle."""
        return tuple(port for port, (name, _) in self.far.items() if name in self.bundle.devices)

    @cached_property
    def host_address(self) -> str:
        """The address of a host, else of a switch, at a cable of this switch; with prefix length, "" for none."""
        nics = {
            (host.name, nic.name): nic.addresses
            for host in (self.bundle.wiring.hosts if self.bundle.wiring else ())
            for nic in host.nics
        }
        return next((nics[far][0] for far in self.far.values() if nics.get(far)), "")

    @cached_property
    def neighbor_address(self) -> str:
        """The address of a switch at the far end of a cable; with prefix length, "" for none."""
        for port in self.switch_ports:
            name, far_port = self.far[port]
            for key in self.bundle.devices[name].table("INTERFACE"):
                if key.startswith(f"{far_port}|"):
                    return key.partition("|")[2]
        return ""


@dataclass(frozen=True)
class Kind:
    """One kind of fault. To be found, a finding must name one of `tables`. It concerns the switches that `needs`
    selects and whose tables it changes."""

    name: str
    change: Change
    tables: tuple[str, ...]
    needs: Callable[[Scene], object]


def kinds(tables: str, needs: Callable[[Scene], object] = lambda _: True, **changes: Change) -> list[Kind]:
    """Kinds of faults in the same tables."""
    return [Kind(name.replace("_", "-"), change, tuple(tables.split()), needs) for name, change in changes.items()]


def is_bgpcfgd(scene: Scene) -> bool:
    """Whether bgpcfgd configures BGP, not the management framework."""
    metadata = scene.bundle.devices[scene.name].table("DEVICE_METADATA").get("localhost", {})
    return metadata.get("frr_mgmt_framework_config") != "true"


def rows(tables: Tables, table: str, where: Where | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a table that the condition selects."""
    for key, row in list(tables.get(table, {}).items()):
        if where is None or where(key, row):
            yield key, row


def put(table: str, where: Where | None = None, **values: Any) -> Change:
    """Sets fields of every row."""

    def change(_: Scene, tables: Tables) -> None:
        for _key, row in rows(tables, table, where):
            row.update(values)

    return change


def drop(table: str, *fields: str, where: Where | None = None) -> Change:
    """Removes fields of every row, or the rows without `fields`."""

    def change(_: Scene, tables: Tables) -> None:
        for key, row in rows(tables, table, where):
            for field in fields:
                row.pop(field, None)
            if not fields:
                del tables[table][key]

    return change


def scale(table: str, factor: float, *fields: str, where: Where | None = None) -> Change:
    """Multiplies numbers, with their unit if they have one ("40m")."""

    def change(_: Scene, tables: Tables) -> None:
        for _key, row in rows(tables, table, where):
            for field in fields or tuple(row):
                text = str(row.get(field, ""))
                digits = text.rstrip("m")
                if digits.isdecimal():
                    row[field] = f"{int(int(digits) * factor)}{text[len(digits) :]}"

    return change


def swap(table: str, one: str, other: str) -> Change:
    """Exchanges two fields of every row."""

    def change(_: Scene, tables: Tables) -> None:
        for _key, row in rows(tables, table):
            if one in row and other in row:
                row[one], row[other] = row[other], row[one]

    return change


def add(table: str, key: str, **values: Any) -> Change:
    """Adds a row."""

    def change(_: Scene, tables: Tables) -> None:
        tables.setdefault(table, {})[key] = dict(values)

    return change


def both(*changes: Change) -> Change:
    """Several changes."""

    def change(scene: Scene, tables: Tables) -> None:
        for one in changes:
            one(scene, tables)

    return change


def if_has(table: str, then: Change) -> Change:
    """A change for switches that have a table."""

    def change(scene: Scene, tables: Tables) -> None:
        if tables.get(table):
            then(scene, tables)

    return change


def has(**values: str) -> Where:
    """Rows with these values."""
    return lambda _, row: all(row.get(field) == value for field, value in values.items())


def named(*names: str) -> Where:
    """Rows whose key starts with one of these."""
    return lambda key, _: key.startswith(names)


def with_field(field: str) -> Where:
    """Rows that have a field."""
    return lambda _, row: field in row


def length(prefix_length: int) -> Change:
    """Other prefix lengths of all interfaces that are links (/31)."""

    def change(_: Scene, tables: Tables) -> None:
        for key, row in rows(tables, "INTERFACE", lambda key, _: key.endswith("/31")):
            del tables["INTERFACE"][key]
            tables["INTERFACE"][f"{key[:-3]}/{prefix_length}"] = row

    return change
