"""The report of draft-calabria-bmwg-ai-fabric-training-bench-02, section "Reporting Format", as Markdown.

It has a table for each test that the run contains and says which tests it does not. The draft's reference values are
not acceptance criteria, so no value is judged here: the findings of the run stand under Anomalies.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabricgen.findings import Finding
from fabricgen.report.formats import Format
from fabricgen.report.run import Run

Rows = Sequence[Mapping[str, Any]]

# Appendix "RoCEv2 Test Frame Format": bytes, and the fields that a test frame fixes.
FRAME = (
    ("Ethernet Dst MAC, Src MAC, EtherType", 14, "DUT next hop; 0x0800, or 0x8100 with a VLAN tag of 4 bytes, PCP 3"),
    ("IPv4 Header", 20, "DSCP 26, ECT(0), protocol 17"),
    ("UDP Header", 8, "destination port 4791, source port varies"),
    ("BTH", 12, "OpCode, DstQP, PSN, P_Key"),
    ("RETH", 16, "of RDMA Write: VA, R_Key, DMA length"),
    ("ICRC", 4, "invariant CRC"),
    ("FCS", 4, "Ethernet"),
)
FRAME_DSCP = 26


def bmwg_report(run: Run) -> str:
    """The report. That of a verb which runs no test of the draft has its findings only."""
    own = run.own
    extra = own.get("bmwg")
    tables = extra if isinstance(extra, dict) else {}
    lines = [
        "# AI fabric benchmark report",
        "",
        "Form: draft-calabria-bmwg-ai-fabric-training-bench-02. "
        + ("Values are measured." if run.verb == "accept" else f"Values are simulated by fabricgen {run.version}.")
        + " None of them is judged: the draft defines no acceptance criteria.",
    ]
    lines += _sections(tables.get("dut", {}))
    results = [*_results(own, tables)]
    lines += ["", "## 5. Test Results", *(results or ["", "None."])]
    lines += _left_out(own, tables)
    lines += ["", "## 6. Anomalies", "", *map(_anomaly, run.findings)]
    lines += [] if run.findings else ["None."]
    lines += ["", "## 7. Repeatability Statement", "", *_repeated(own, tables)]
    return "\n".join(lines) + "\n"


def _anomaly(finding: Finding) -> str:
    where = " ".join(filter(None, (finding.device, finding.path)))
    place = f" ({finding.location})" if finding.location else ""
    return f"- {finding.severity} {finding.code}: {f'{where}: ' if where else ''}{finding.message}{place}"


def _sections(dut: Mapping[str, Any]) -> Iterator[str]:
    yield from ("", "## 1. DUT Identification", "")
    if not dut:
        yield "Not in the files of this run."
    else:
        yield from _table(
            ("Parameter", "Value"),
            [
                ("Switches", "; ".join(map(_switches, dut["switches"]))),
                ("NOS", ", ".join(f"SONiC {release}" for release in dut["sonic_releases"]) or "not in the files"),
                ("Port speed", ", ".join(dut["port_speeds"])),
                ("Buffer per ASIC", ", ".join(f"{size} bytes" for size in dut["mmu_bytes"]) or "not in the files"),
                ("Cables", ", ".join(dut["cables"])),
                ("NICs", ", ".join(dut["nics"])),
                ("Firmware, drivers, BIOS", "not in the files: add them"),
            ],
        )  # fmt: skip
    yield from ("", "## 2. Test Topology", "")
    links = ", ".join(f"{count} {kind}" for kind, count in dut.get("links", {}).items())
    yield f"{'; '.join(dut.get('designs', ())) or 'Not in the files'}. Links: {links or 'none'}."
    yield from ("", "## 3. Test Configuration", "", "Frame:", "")
    yield from _table(("Field", "Bytes", "Value"), FRAME)
    for one in dut.get("roce", ()):
        same = "as in the frame above" if one["dscp"] == [FRAME_DSCP] else f"the frame above has {FRAME_DSCP}"
        yield ""
        yield (
            f"Plane {one['plane']}: lossless priorities {_list(one['priorities'])}, "
            f"DSCP {_list(one['dscp'])} ({same}), RoCE MTU {one['mtu']}. "
            "Thresholds and buffers are those of the configuration files."
        )
    yield from ("", "## 4. Host Configuration", "", "See the files of the hosts in the bundle.")


def _switches(one: Mapping[str, Any]) -> str:
    return f"{one['count']} {one['role']} {one['platform']} ({one['hwsku']})"


def _results(own: Mapping[str, object], tables: Mapping[str, Any]) -> Iterator[str]:
    if rows := tables.get("incast"):
        yield from ("", "### PFC Behavior Under Incast", "")
        yield from _table(
            ("N", "PAUSE frames", "PAUSE frames/s", "Paused ports", "Longest pause (us)", "Most paused port (us)",
             "Watchdog storms", "Drops", "ECN marks", "Throughput (Gb/s)"),
            [
                (row["senders"], row["reason"], *[""] * 8) if "reason" in row else
                (row["senders"], row["pause_frames"], _number(row["pauses_per_s"], 0), row["paused_ports"],
                 _number(row["longest_pause_us"], 1), _number(row["most_paused_us"], 1), row["storms"], row["drops"],
                 row["ecn_marked"], _number(row["gbps"], 1))
                for row in rows
            ],
        )  # fmt: skip
    if rows := tables.get("convergence"):
        yield from ("", "### DCQCN Convergence Time", "")
        yield from _table(
            ("2 M flows", "Within 10 % of the fair share after (us)", "JFI of rates", "ECN marks", "PAUSE frames"),
            [
                (row["flows"], "not in 5,000" if row["after_us"] is None else _number(row["after_us"], 1),
                 _number(row["jfi_of_rates"], 3), row["ecn_marked"], row["pause_frames"])
                for row in rows
            ],
        )  # fmt: skip
    yield from _cyclic(own)
    if rows := tables.get("hashing"):
        yield from ("", "### ECMP Entropy and Polarization, Packet Spraying", "")
        yield from _table(
            ("Plane", "Balancing", "QPs", "Links", "JFI", "JFI least", "MMR", "MMR highest", "Uniform hash JFI", "MMR"),
            [
                (row["plane"], row["balance"], row["queue_pairs"] or "any", row["reason"], *[""] * 6)
                if "reason" in row else
                (row["plane"], row["balance"], row["queue_pairs"] or "any", _parallel(row), _number(row["jfi"], 3),
                 _number(row["jfi_least"], 3), _number(row["mmr"], 2), _number(row["mmr_highest"], 2),
                 *(_number(value, digits) for value, digits in zip(row.get("uniform", ("", "")), (3, 2), strict=True)))
                for row in rows
            ],
        )  # fmt: skip
    acceptance = own.get("acceptance")
    if isinstance(acceptance, dict):
        yield from _measured(acceptance)
    if rows := tables.get("completion"):
        yield from ("", "### Synthetic JCT Under Controlled Conditions", "")
        yield "An iteration computes for C, then runs an all-reduce of S."
        yield "The roofline has the rate of the NICs of a host, or of the hosts that share NVLink."
        yield ""
        yield from _table(
            ("Plane", "N", "C (ms)", "S (bytes)", "Iteration (ms)", "Roofline (ms)", "JCT ratio", "Highest of draws",
             "BusBW (Gb/s)"),
            [
                (row["plane"], row["accelerators"], row["compute_ms"], row["bytes"], _number(row["iteration_ms"], 2),
                 _number(row["roofline_ms"], 2), _number(row["ratio"], 4), _number(row["ratio_highest"], 4),
                 _number(row["bus_gbps"], 1))
                for row in rows
            ],
        )  # fmt: skip


def _cyclic(own: Mapping[str, object]) -> Iterator[str]:
    """Section "PFC Storm and Deadlock Resilience": the proof holds for any traffic and time; a run for its own."""
    deadlock, packets = own.get("deadlock"), own.get("packets")
    if not isinstance(deadlock, dict) and not (isinstance(packets, dict) and packets):
        return
    yield from ("", "### PFC Storm and Deadlock Resilience", "")
    rows: list[tuple[str, str, str]] = []
    if isinstance(deadlock, dict):
        rows += [
            (plane.get("name") or "fabric", "proof over all traffic", str(plane.get("verdict")))
            for plane in deadlock.get("planes") or [deadlock]
        ]
    if isinstance(packets, dict) and packets:
        for plane in packets.get("planes") or [packets]:
            frozen = f"frozen at {plane['freeze']['time_ns']} ns" if plane.get("freeze") else "no freeze"
            sent = f"{plane['pattern'] or 'scenario'}, {plane['simulated_ns'] / 1e6:.1f} ms"
            rows.append((plane["scenario"], sent, f"{frozen}, {len(plane.get('watchdog', ()))} watchdog events"))
    yield from _table(("Plane", "Traffic", "Result"), rows)


def _measured(acceptance: Mapping[str, Any]) -> Iterator[str]:
    rows = [one for one in acceptance["measurements"] if one["value"] is not None]
    pairs = [one for one in rows if one["unit"] == "Gb/s"]
    collectives = [one for one in rows if one["unit"] == "GB/s"]
    if pairs:
        yield from ("", "### Baseline Throughput", "")
        yield from _table(
            ("Test", "Throughput (Gb/s)", "Share of goodput"),
            [(one["test"], _number(one["value"], 1), _share(one)) for one in pairs],
        )
    if collectives:
        yield from ("", "### Collective Communication Library Bus Bandwidth Summary", "")
        yield from _table(
            ("Test", "BusBW (Gb/s)", "Share of the NICs' goodput"),
            [(one["test"], _number(one["value"] * 8, 1), _share(one)) for one in collectives],
        )
    if acceptance["link_fairness"]:
        yield from ("", "### Jain Fairness Index Measurement", "")
        yield from _table(
            ("Switch", "Parallel links", "JFI", "MMR"),
            [
                (one["device"], one["links"], _number(one["jfi"], 3), _number(one["mmr"], 2))
                for one in acceptance["link_fairness"]
            ],
        )


def _left_out(own: Mapping[str, object], tables: Mapping[str, Any]) -> Iterator[str]:
    """The tests of the draft that this run does not contain, and the commands for them."""
    has = {
        "ECMP entropy, spraying, JCT (simulate congestion)": "hashing" in tables,
        "incast, DCQCN convergence (simulate packets)": "incast" in tables,
        "deadlock resilience under any traffic (simulate deadlock)": "deadlock" in own,
        "throughput and collectives as measured (accept)": "acceptance" in own,
    }
    yield ""
    yield f"Not in this run: {'; '.join(name for name, known in has.items() if not known)}; UET, MLPerf, scale, soak."


def _repeated(own: Mapping[str, object], tables: Mapping[str, Any]) -> Iterator[str]:
    acceptance = own.get("acceptance")
    if isinstance(acceptance, dict):
        values = [
            one["value"] / one["expected"] for one in acceptance["measurements"] if one["value"] and one["expected"]
        ]
        if len(values) > 1:
            mean = sum(values) / len(values)
            deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
            yield f"{len(values)} tests, each measured once; CV of value over goodput {deviation / mean:.1%}."
            return
        yield "One measurement of each test."
        return
    draws = max((row.get("draws", 1) for row in tables.get("hashing", ()) if row["queue_pairs"]), default=1)
    yield f"Simulated: equal inputs give equal values. Hashes: {draws} draw{'s' if draws > 1 else ''} (--draws)."


def _table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(map(str, head))} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(str(cell).replace('|', '/') for cell in row)} |"


def _number(value: object, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, (int, float)) else ""


def _share(one: Mapping[str, Any]) -> str:
    return f"{one['value'] / one['expected']:.1%}" if one["expected"] else ""


def _list(values: Sequence[object]) -> str:
    return ", ".join(map(str, values)) or "none"


def _parallel(row: Mapping[str, Any]) -> str:
    return f"{row['switches']} {row['tier']} to {row['toward']}, {row['links']} each"


FORMAT = Format(
    "bmwg", "Markdown in the form of the IETF's draft on AI fabric benchmarks: JFI, MMR, JCT, incast", bmwg_report
)
