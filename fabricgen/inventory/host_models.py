"""The `host_models` of an inventory, with each row of `nics` expanded to its NIC ports."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, Self

from fabricgen.inventory.nodes import Node
from fabricgen.inventory.part import Part, key
from fabricgen.inventory.values import Name, PerNic, Speed

_PORT_LETTERS = "abcdefgh"


class MadeNic(NamedTuple):
    """One NIC port of a host. A text that is not given is empty."""

    name: str
    rail: int | None
    port: int
    gpu: int | None
    pci: str
    rdma: str


@dataclass(frozen=True, kw_only=True)
class OwnNic(Part, definition="host_nic"):
    """One row of a host model in the inventory, and the NIC ports that it defines."""

    name: Annotated[
        str,
        key(
            "The name of the NIC. {rail} is replaced by the number of the rail.",
            required=True,
            page="its name; `{rail}` is the number of the rail",
        ),
    ]
    model: Annotated[
        str,
        key(
            "A NIC model, for example ConnectX-7. The limits of models outside the catalog are unknown.",
            required=True,
            page="a NIC of the [catalog](platforms.md#nics); the limits of other NICs are unknown (FG114)",
        ),
    ]
    speed_mbps: Annotated[
        Speed, key(name="speed", required=True, page="speed of one port, which the NIC must support (FG115)")
    ]
    plane: Annotated[
        Name,
        key(
            "The plane of the NIC, or a purpose: compute, storage, out-of-band, ...",
            required=True,
            page="its network: `compute`, `storage`, `management`, `out-of-band` or a plane's name",
        ),
    ]
    rail: Annotated[int | None, key("The rail of one NIC.", minimum=0, usual="no rail", page="the rail of one NIC")]
    rails: Annotated[
        int | None,
        key(
            "The number of NICs, one on each rail from 0.",
            minimum=1,
            maximum=1024,
            usual="no rail",
            page="number of NICs, on rails 0 and up",
        ),
    ]
    port: Annotated[
        int | None,
        key(
            "The number of the port in its cage.",
            minimum=0,
            maximum=7,
            usual="`0`",
            page="the number of the port in its cage",
        ),
    ]
    ports: Annotated[
        int | None,
        key(
            "Ports of one cage. With two or more, a, b, ... is appended to the names.",
            minimum=1,
            maximum=8,
            usual="one port",
            page="number of ports of a cage, with suffixes `a`, `b`, … in their names",
        ),
    ]
    gpu: Annotated[
        int | None,
        key(
            "The GPU of one NIC. With `rails`, the GPUs are divided evenly.",
            minimum=0,
            usual="with `rails`: evenly distributed",
            page="the GPU of one NIC",
        ),
    ]
    pci: Annotated[
        PerNic,
        key(
            "PCI address.",
            page="PCI address, which [names and device lists of hosts](hosts.md) need; a list has one entry for each "
            "NIC, all first ports before all second ports",
        ),
    ]
    rdma: Annotated[
        PerNic, key("RDMA device, for example mlx5_0.", page="RDMA device, for example `mlx5_0`, in the same form")
    ]
    made: tuple[MadeNic, ...] = ()

    def expanded(self, gpus: int) -> Self:
        """With its NIC ports, in a host with so many GPUs."""
        return replace(self, made=tuple(self._made(gpus)))

    def _made(self, gpus: int) -> Iterator[MadeNic]:
        """All first ports, then all second ports, each in the order of the rails."""
        places = [
            (port, rail)
            for port in (range(self.ports) if self.ports else [self.port or 0])
            for rail in (range(self.rails) if self.rails else [self.rail])
        ]
        for index, (port, rail) in enumerate(places):
            name = self.name.replace("{rail}", "" if rail is None else str(rail))
            letter = _PORT_LETTERS[port] if self.ports and self.ports > 1 else ""
            gpu = _gpu_of(rail, self.rails, gpus) if self.rails and rail is not None else self.gpu
            yield MadeNic(name + letter, rail, port, gpu, _text(self.pci, index), _text(self.rdma, index))


def _gpu_of(rail: int, rails: int, gpus: int) -> int | None:
    """The GPU of a rail, with GPUs divided evenly and in order; None if they cannot be divided."""
    return rail * gpus // rails if gpus and (rails % gpus == 0 or gpus % rails == 0) else None


def _text(texts: tuple[str, ...], index: int) -> str:
    return texts[index] if index < len(texts) else ""


@dataclass(frozen=True, kw_only=True)
class OwnHostModel(Part, definition="host_model"):
    """A host model in the inventory. A model that is not `sound` has findings, and no host can use it."""

    name: str
    vendor: Annotated[str, key(page="manufacturer")] = ""
    gpus: Annotated[int, key(required=True, minimum=0, maximum=1024, page="GPUs of a host; 0 for a storage node")]
    nvlink_domain: Annotated[
        int,
        key(
            "The number of GPUs that share NVLink or a similar interconnect, by default `gpus`. "
            "It is larger if the domain spans hosts.",
            minimum=1,
            usual="`gpus`",
            page="GPUs that share NVLink or an equivalent; more than `gpus` if the domain spans hosts",
        ),
    ]
    nics: Annotated[tuple[OwnNic, ...], key(required=True, minItems=1, page="its NICs")]
    sound: bool = True

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        found = super().values(node, path)
        gpus = found["gpus"]
        nics = tuple(row.expanded(gpus) for row in found["nics"])
        return {**found, "nics": nics, "nvlink_domain": found["nvlink_domain"] or gpus}
