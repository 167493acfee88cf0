"""The report as one JSON object: everything that the page shows. Every number of the page is in it."""

import functools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabricgen.bundle.manifest import Manifest
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredBalance
from fabricgen.draw.topology import read_topology
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location
from fabricgen.inputs import read_bytes
from fabricgen.page.bill import bill_object
from fabricgen.page.cables import cables_object
from fabricgen.page.causes import causes_object
from fabricgen.page.configurations import Configuration, configurations, rows_object
from fabricgen.page.graph import graph_object
from fabricgen.page.lossless import plan_object
from fabricgen.page.tenants import tenants_object
from fabricgen.page.traffic import traffic_object
from fabricgen.page.verdict import JudgedResults, verdict_object
from fabricgen.report.deadlock import deadlock_object
from fabricgen.report.formats.json import finding_object
from fabricgen.report.pages import page
from fabricgen.report.run import visible_finding
from fabricgen.simulate.deadlock.failures.named_links import failed_links
from fabricgen.sonic.secrets import is_secret_path, masked


def report_object(
    judged: JudgedResults,
    bundle: Bundle | None,
    manifest: Manifest | None,
    differences: dict[str, Any] | None,
    name: str,
) -> dict[str, Any]:
    """The object. Without a bundle (the inventory has errors) it has the verdict and the findings only."""
    bill = bill_object(bundle) if bundle else None
    cables = cables_object(bundle) if bundle else None
    found: dict[str, Any] = {
        "fabric": _fabric(bundle, manifest, name),
        "verdict": verdict_object(judged, bill, cables),
        "causes": causes_object(judged.findings),
        "findings": findings_object(judged.findings),
        "suppressed": findings_object(judged.suppressed),
        "titles": titles([*judged.findings, *judged.suppressed]),
        "tenants": [],
        "deadlock": _planes(judged, bundle),
        "traffic": traffic_object(judged.congestion),
        "packets": list(judged.packets),
        "bill": bill,
        "differences": differences,
    }
    if bundle is not None:
        topology, distinct = read_topology(bundle, states=True), configurations(bundle)
        number = {device: index for index, one in enumerate(distinct) for device in one.devices}
        of_switch = [number.get(switch.name) for switch in topology.switches]
        found["topology"] = graph_object(bundle, topology, of_switch)
        found["tenants"] = tenants_object(bundle, topology, judged.isolation)
        found["configurations"] = [rows_object(bundle, one) for one in distinct]
        found["lossless"] = _plans(distinct)
        found["cables"] = cables
    return found


def _fabric(bundle: Bundle | None, manifest: Manifest | None, name: str) -> dict[str, Any]:
    wiring = bundle.wiring if bundle else None
    return {
        "name": wiring.fabric if wiring else name,
        "links_from": bundle.links_from if bundle else None,
        "inventory_digest": manifest.inventory_digest if manifest else None,
        "output_version": manifest.output_version if manifest else None,
        "sonic_release": manifest.sonic_release if manifest else None,
        "planes": [
            {"name": plane.name, "technology": plane.technology, "design": plane.design, "purpose": plane.purpose,
             "lossless": plane.lossless, "roce_mtu": plane.roce_mtu,
             "load_balancing": _balance(plane.load_balancing)}
            for plane in (wiring.planes if wiring else ())
        ],
    }  # fmt: skip


def _balance(balance: WiredBalance | None) -> dict[str, Any] | None:
    if balance is None:
        return None
    return {"mode": balance.mode, "per": balance.per, "flowlet_gap_ns": balance.flowlet_gap_ns}


def _planes(judged: JudgedResults, bundle: Bundle | None) -> list[dict[str, Any]]:
    """The verdict of each plane as `simulate deadlock` has it, and `failed_pairs`: the switches at both ends of the
    failed links of a cycle."""
    found = []
    for result in judged.deadlock:
        plane = deadlock_object([result], judged.digests)
        for one in (plane, plane.get("fixed_sl", plane)):
            for cycle in one["cycles"]:
                wires = [
                    wire for name in cycle["failed_links"] for wire in (failed_links(bundle, name) if bundle else ())
                ]
                cycle["failed_pairs"] = sorted({(a[0], b[0]) for a, b in wires})
        found.append({"name": result.name, **plane})
    return found


def _plans(distinct: Sequence[Configuration]) -> list[dict[str, Any]]:
    """The lossless plan of each configuration; its place in the list is that of the configuration."""
    return [plan_object(one) for one in distinct]


# The findings of the report: as in JSON, with the lines around their place and the title of their code.

_AROUND, _WIDTH = 2, 160
_WITH_LINES = 40  # findings of a code


def findings_object(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Each finding as in the JSON of all verbs, with `lines` ([number, text] around its place), and `suppression`: why
    it is accepted, and until when."""
    read = functools.lru_cache(maxsize=64)(_lines)
    seen: Counter[str] = Counter()
    found = []
    for one in findings:
        seen[one.code] += 1
        shown = one.location and seen[one.code] <= _WITH_LINES and not is_secret_path(one.path)
        lines = _excerpt(one.location, read(one.location.file)) if shown and one.location else []
        accepted = one.suppression
        found.append(
            {
                **finding_object(visible_finding(one)),
                "lines": lines,
                "suppression": {"reason": accepted.reason, "expires": accepted.expires} if accepted else None,
            }
        )
    return found


def titles(findings: Sequence[Finding]) -> dict[str, str]:
    """Code -> the title of its page."""
    return {code: page(code).title for code in sorted({one.code for one in findings})}


def _excerpt(place: Location, source: Sequence[str]) -> list[list[Any]]:
    first = max(1, place.line - _AROUND) if place.line else 0
    return [[number, masked(source[number - 1][:_WIDTH].rstrip())]
            for number in range(first, min(len(source), place.line + _AROUND) + 1) if first]  # fmt: skip


def _lines(file: str) -> tuple[str, ...]:
    """The lines of a file; () if it cannot be read: the finding is useful without them."""
    try:
        return tuple(read_bytes(Path(file)).decode("utf-8", "replace").splitlines())
    except (OSError, UnreadableInputError):
        return ()
