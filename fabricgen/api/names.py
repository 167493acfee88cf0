"""The names that inventories and options accept, each with a short description."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from fabricgen.units import counted, format_speed
from fabricgen.vocabulary import Technology

if TYPE_CHECKING:
    from fabricgen.platforms.catalog_index import IndexedLayout

Rows = Mapping[str, str]  # name -> description


def platforms() -> Rows:
    """Switch models: the chip, and the layouts. A layout with the name of its HwSKU has the ports of one before it."""
    from fabricgen.platforms.catalog import switch_rows

    return {name: _layouts(rows) for name, rows in switch_rows().items()}


def _layouts(rows: Sequence["IndexedLayout"]) -> str:
    if rows[0].technology == Technology.INFINIBAND:
        return f"InfiniBand, {rows[0].asic}: {', '.join(row.layout for row in rows)}"
    kinds = {
        "": [row.layout for row in rows if row.lossless],
        "no lossless: ": [r.layout for r in rows if not r.lossless],
    }
    parts = [word + ", ".join(names) for word, names in kinds.items() if names]
    return f"{rows[0].asic}: {'; '.join(parts)}"


def hosts() -> Rows:
    """Host models with their GPUs and the planes of their NICs."""
    from fabricgen.platforms.catalog import host_model, host_names

    found = {name: model for name in host_names() if (model := host_model(name))}
    return {
        name: f"{model.gpus} GPUs, NICs for {', '.join(dict.fromkeys(nic.plane for nic in model.nics))}"
        for name, model in found.items()
    }


def nics() -> Rows:
    """NIC models with their speeds."""
    from fabricgen.platforms.catalog import nic_model, nic_names

    found = {name: model for name in nic_names() if (model := nic_model(name))}
    return {name: ", ".join(map(format_speed, model.speeds_mbps)) for name, model in found.items()}


def designs() -> Rows:
    """Values of `design:` with their layout."""
    from fabricgen.design.registry import designs as registered

    return {name: design.summary for name, design in registered().items()}


def patterns() -> Rows:
    """Traffic patterns."""
    from fabricgen.vocabulary import PATTERNS

    return dict.fromkeys(PATTERNS, "")


def profiles() -> Rows:
    """Shipped lossless profiles with their classes."""
    from fabricgen.inventory.profiles import shipped_profiles

    return {
        name: "; ".join(
            f"priority {priority}: DSCP {', '.join(node.texts('dscp'))}"
            for priority, node in profile.part("classes").mapping.items()
        )
        for name, profile in shipped_profiles().items()
    }


def formats() -> Rows:
    """Report formats."""
    from fabricgen.report.formats import formats as registered

    return {name: one.summary for name, one in registered().items()}


def codes() -> Rows:
    """Codes of findings with the severity of rules and the title."""
    from fabricgen.report.pages import pages

    return {code: f"{one.severity or '':<8} {one.title}" for code, one in sorted(pages().items())}


def releases() -> Rows:
    """SONiC releases: what their YANG models have more, and no longer, than those of the release before."""
    from fabricgen.sonic.release_models import images, release_word
    from fabricgen.sonic.releases import OLDEST

    known = images()
    rows = {OLDEST: "the oldest supported release", min(known): "the oldest one with known models"}
    rows |= {new: _release_change(old, new) for old, new in pairwise(known)}
    return {
        release_word(one): f"FRR {known[one].frr}; {change}" if one in known else change for one, change in rows.items()
    }


def _release_change(old: int, new: int) -> str:
    from fabricgen.sonic.release_models import differences

    more = [path for path, having in differences().items() if new in having and old not in having]
    less = [path for path, having in differences().items() if old in having and new not in having]
    tables = [path for path in more if "|" not in path]
    others = sum(path.partition("|")[0] not in tables for path in more)
    parts = [f"adds {counted(others, 'row or field', 'rows and fields')} of known tables", *tables]
    return ", ".join(parts) + (f"; removes {', '.join(less)}" if less else "")


KINDS: Mapping[str, Callable[[], Rows]] = {
    each.__name__: each for each in (platforms, hosts, nics, designs, patterns, profiles, formats, codes, releases)
}
