"""Mistakes in host models that the schema cannot detect: equal NIC names, gaps in rails, unknown GPUs."""

import re
from collections import defaultdict
from collections.abc import Iterator

from fabricgen.findings import Finding, Related
from fabricgen.inventory.host_models import OwnHostModel, OwnNic
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.values import NAME

PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")
_EITHER = (("rail", "rails"), ("port", "ports"), ("gpu", "rails"))


def check_host_models(inventory: Inventory) -> dict[str, list[Finding]]:
    """Model -> its findings, for models that have any. The inventory conforms to the schema."""
    found = {name: list(_check(model)) for name, model in inventory.host_models.items()}
    return {name: findings for name, findings in found.items() if findings}


def _check(model: OwnHostModel) -> Iterator[Finding]:
    if model.gpus and model.nvlink_domain % model.gpus:
        message = (
            f"an NVLink domain of {model.nvlink_domain} GPUs is not a whole number of hosts with {model.gpus} GPUs"
        )
        yield error("FG105", message, model, "nvlink_domain", hint=f"use a multiple of {model.gpus}")
    for row in model.nics:
        yield from _check_row(model, row)
    yield from _check_names(model)
    yield from _check_rails(model)


def _check_row(model: OwnHostModel, row: OwnNic) -> Iterator[Finding]:
    given = row.node.mapping
    for one, many in _EITHER:
        if one in given and many in given:
            hint = f"`{many}` defines several NICs: write one row with `{one}` for each, or remove `{one}`"
            yield error("FG105", f"{one!r} and {many!r} are in one row", row, one, hint=hint)
    gpu = row.node.scalar("gpu", 0)
    if gpu and gpu >= model.gpus:
        yield error(
            "FG105", f"GPU {gpu} does not exist in a host with {model.gpus} GPUs", row, "gpu", hint="GPUs count from 0"
        )
    for key in ("pci", "rdma"):
        texts = len(given[key].items) or 1 if key in given else len(row.made)
        if texts != len(row.made):
            hint = "write a list with one text for each NIC: all first ports, then all second ports"
            message = f"{texts} {key} {'text' if texts == 1 else 'texts'} for {len(row.made)} NICs"
            yield error("FG105", message, row, key, hint=hint)
    for pci in sorted({nic.pci for nic in row.made if nic.pci and not PCI.fullmatch(nic.pci)}):
        message = f"{pci!r} is not a PCI address in the form of sysfs"
        hint = "write domain, bus, slot and function in lower case: 0000:18:00.0 (`lspci -D`)"
        yield error("FG105", message, row, "pci", hint=hint)


def _check_names(model: OwnHostModel) -> Iterator[Finding]:
    first: dict[str, OwnNic] = {}
    for row in model.nics:
        wrong = next((nic.name for nic in row.made if not NAME.fullmatch(nic.name)), None)
        if wrong is not None:
            hint = 'use letters, digits, - _ . and {rail} for the number of the rail: "rail{rail}"'
            yield error("FG105", f"{wrong!r} is not allowed as the name of a NIC", row, "name", hint=hint)
            continue
        twice = next((nic.name for nic in row.made if first.setdefault(nic.name, row) is not row), None)
        if twice is None and len({nic.name for nic in row.made}) < len(row.made):
            twice = row.made[0].name
        if twice is not None:
            other = first[twice]
            related = (Related("the first one", other.at("name")),) if other is not row else ()
            hint = 'use {rail} in the name to distinguish the NICs of one row: "rail{rail}"'
            yield error("FG102", f"two NICs have the name {twice!r}", row, "name", hint=hint, related=related)


def _check_rails(model: OwnHostModel) -> Iterator[Finding]:
    """The rails of a network count from 0, each once on every port."""
    taken: dict[tuple[str, int], list[tuple[int, OwnNic]]] = defaultdict(list)
    for row in model.nics:
        for nic in row.made:
            if nic.rail is not None:
                taken[row.plane, nic.port].append((nic.rail, row))
    for (plane, port), nics in taken.items():
        rails = sorted(rail for rail, _ in nics)
        if rails != list(range(len(rails))):
            row = next(row for rail, row in nics if rail not in range(len(rails)) or rails.count(rail) > 1)
            message = f"port {port} of plane {plane} has the rails {', '.join(map(str, rails))}"
            hint = "number rails from 0, each once; give the second port of a cage `port: 1`"
            yield error("FG105", message, row, "rails" if "rails" in row.node.mapping else "rail", hint=hint)
