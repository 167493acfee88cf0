"""Bandwidth by message size as a JSON object and as the table of nccl-tests."""

from collections.abc import Iterator, Sequence
from typing import Any

from fabricgen.report.outages import spread_object
from fabricgen.results import SizeRow, SizeTable, Spread
from fabricgen.units import format_bytes

_LEFT_OUT = "times have no launch of kernels, NIC, PCIe or NVLink: those of small messages are lower bounds"


def size_object(table: SizeTable) -> dict[str, Any]:
    """An item of `sizes` of a plane."""
    return {
        "pattern": table.pattern,
        "rail": table.rail,
        "ranks": table.ranks,
        "steps": table.steps,
        "way_ns": table.way_ns,
        "rows": [_row(row) for row in table.rows],
        "reason": table.reason,
    }


def _row(row: SizeRow) -> dict[str, Any]:
    return {
        "size_bytes": row.size_bytes,
        "time_ns": spread_object(row.time_ns),
        "alg_gbytes": spread_object(row.alg_gbytes),
        "bus_gbytes": spread_object(row.bus_gbytes),
        "even_bus_gbytes": row.even_bus_gbytes,
    }


def size_lines(tables: Sequence[SizeTable]) -> Iterator[str]:
    """A table of the job for each pattern, and a line with its rails alone at the largest size."""
    for table in tables:
        if table.rail is not None:
            continue
        head = f"bandwidth   {f'plane {table.name}: ' if table.name else ''}{table.pattern}, {table.ranks} ranks"
        if table.reason:
            yield f"{head}: no figures: {table.reason}"
            continue
        yield f"{head}; {table.steps} x {table.way_ns / 1000:.2f} us of latency in each time"
        yield f"{'size':>12}{'time us':>14}{'algbw GB/s':>12}{'busbw GB/s':>12}{'least':>9}{'highest':>9}{'even':>9}"
        for row in table.rows:
            bus = row.bus_gbytes
            values = [bus.mean, bus.least, bus.highest, row.even_bus_gbytes] if bus else [None] * 4
            cells = "".join(f"{_number(value):>{width}}" for value, width in zip(values, (12, 9, 9, 9), strict=True))
            yield (
                f"{format_bytes(row.size_bytes):>12}{row.time_ns.mean / 1000:>14.1f}{row.alg_gbytes.mean:>12.2f}{cells}"
            )
        yield from _rails([one for one in tables if one.rail is not None and one.pattern == table.pattern])
    if any(table.rows for table in tables):
        yield f"{'':12}{_LEFT_OUT}"


def _rails(tables: Sequence[SizeTable]) -> Iterator[str]:
    """Rails with equal figures share a line."""
    equal: dict[tuple[int, Spread], list[int]] = {}
    for table in tables:
        if table.rows and (bus := table.rows[-1].bus_gbytes):
            rounded = Spread(round(bus.mean, 2), round(bus.least, 2), round(bus.highest, 2))
            equal.setdefault((table.ranks, rounded), []).append(int(table.rail or 0))
    for (ranks, bus), rails in equal.items():
        names = ", ".join(map(str, rails))
        size = format_bytes(tables[0].rows[-1].size_bytes)
        yield (
            f"{'':12}rail {names} alone, {ranks} ranks, {size}: busbw {bus.mean:.2f} GB/s"
            f" ({bus.least:.2f} to {bus.highest:.2f})"
        )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
