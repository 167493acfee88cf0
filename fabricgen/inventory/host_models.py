"""The `host_models` of an inventory, with each row of `nics` expanded to its NIC ports."""

from collections.abc import Iterator

from fabricgen.inventory.model import MadeNic, OwnHostModel, OwnNic
from fabricgen.inventory.nodes import Node
from fabricgen.units import parse_speed_mbps

_PORT_LETTERS = "abcdefgh"


def build_host_model(name: str, node: Node) -> OwnHostModel:
    """The model of a node that conforms to the schema. `host_checks` reports further mistakes."""
    gpus = int(node.scalar("gpus"))
    path = f"host_models.{name}"
    rows = node.mapping["nics"].items if "nics" in node.mapping else []
    return OwnHostModel(
        node=node,
        path=path,
        name=name,
        vendor=str(node.scalar("vendor", "")),
        gpus=gpus,
        nvlink_domain=int(node.scalar("nvlink_domain", gpus)),
        nics=tuple(_row(row, f"{path}.nics[{index}]", gpus) for index, row in enumerate(rows)),
    )


def _row(node: Node, path: str, gpus: int) -> OwnNic:
    return OwnNic(
        node=node,
        path=path,
        model=str(node.scalar("model")),
        speed_mbps=parse_speed_mbps(str(node.scalar("speed"))),
        plane=str(node.scalar("plane")),
        made=tuple(_made(node, gpus)),
    )


def _made(node: Node, gpus: int) -> Iterator[MadeNic]:
    """All first ports, then all second ports, each in the order of the rails."""
    rails, count = node.scalar("rails"), node.scalar("ports")
    places = [
        (port, rail)
        for port in (range(count) if count else [node.scalar("port", 0)])
        for rail in (range(rails) if rails else [node.scalar("rail")])
    ]
    for index, (port, rail) in enumerate(places):
        name = str(node.scalar("name")).replace("{rail}", "" if rail is None else str(rail))
        letter = _PORT_LETTERS[port] if count and count > 1 else ""
        gpu = _gpu_of(rail, rails, gpus) if rails else node.scalar("gpu")
        yield MadeNic(name + letter, rail, port, gpu, _text(node, "pci", index), _text(node, "rdma", index))


def _gpu_of(rail: int, rails: int, gpus: int) -> int | None:
    """The GPU of a rail, with GPUs divided evenly and in order; None if they cannot be divided."""
    return rail * gpus // rails if gpus and (rails % gpus == 0 or gpus % rails == 0) else None


def _text(node: Node, key: str, index: int) -> str:
    given = node.mapping.get(key, Node("", node.location))
    values = [item.value for item in given.items] or [given.value]
    return str(values[index]) if index < len(values) else ""
