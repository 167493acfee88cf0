"""A tuning as a JSON object, as text, as Markdown, and as a block for the inventory."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from fabricgen.results import LibrarySettings, Setting, Trial, TuningResult
from fabricgen.units import counted, format_bytes
from fabricgen.vocabulary import Goal

_METRICS = ("p99 us", "GB/s", "pauses", "queue us")


def tuning_object(result: TuningResult, profile: str | None = None, digest: str | None = None) -> dict[str, Any]:
    """The `tune` object. `digest` is that of the inventory in the manifest of the files."""
    return {
        "plane": result.plane,
        "pattern": result.pattern,
        "goal": str(result.goal),
        "size_bytes": result.size_bytes,
        "inventory": digest,
        "verdict": "change" if result.is_better else "keep",
        "present": _trial(result.present),
        "confirmed": [
            {"name": one.name, **_trial(one.trial), "changed": one.trial.setting.changed(result.present.setting),
             "gain": asdict(one.gain)}
            for one in result.confirmed
        ],
        "spreading": _spreading(result),
        "front": [_trial(one) for one in result.front],
        "block": inventory_block(result, profile) if result.is_better else None,
        "bandwidth": "bus" if result.has_bus else "delivered",
        "flows": result.flows,
        "left_out": result.reason,
        "searched_seeds": list(result.searched_seeds),
        "unseen_seeds": list(result.unseen_seeds),
        "settings": result.tried,
        "runs": result.runs,
        "packet_hops": result.hops,
        "refused": dict(result.refused),
        "limits": list(result.limits),
        "fixed": dict(result.fixed),
        "libraries": [{**asdict(one), "variables": dict(one.variables)} for one in result.libraries],
    }  # fmt: skip


def _spreading(result: TuningResult) -> dict[str, Any] | None:
    one = result.spreading
    return {"proposed": result.is_spreading_better, **_trial(one.trial), "gain": asdict(one.gain)} if one else None


def _trial(one: Trial) -> dict[str, Any]:
    return {
        "setting": asdict(one.setting),
        "draws": one.draws,
        "p99_ns": round(one.p99_ns, 1),
        "gbytes": round(one.gbytes, 3),
        "pauses": round(one.pauses, 2),
        "queue_ns": round(one.queue_ns, 1),
        "faults": one.faults,
    }


def inventory_block(result: TuningResult, profile: str | None = None) -> str:
    """The changes of the best setting as YAML of an inventory, also of a layer of one. `profile` is the name of the
    lossless profile if the inventory of the plane has only that."""
    if result.best is None:
        return ""
    setting = result.best.trial.setting
    parts = setting.changed(result.present.setting)
    lines: list[str] = []
    if "queue pairs" in parts:
        lines.append(f"    queue_pairs: {setting.queue_pairs}")
    if "ECN" in parts:
        marks = f"min: {_size(setting.kmin_bytes)}, max: {_size(setting.kmax_bytes)}"
        lines += [
            "    lossless:",
            *([f"      profile: {profile}"] if profile else []),
            f"      ecn: {{{marks}, probability: {setting.pmax_percent}}}",
        ]
    if lines:
        lines = ["planes:", f"  {result.plane}:", *lines]
    if "alpha" in parts:
        lines += ["overrides:", f"  - match: {{plane: {result.plane}}}", "    config_db:"]
        for table, rows in result.alpha_rows.items():
            lines.append(f"      {table}:")
            for row, fields in rows.items():
                values = ", ".join(f'{field}: "{value}"' for field, value in fields.items())
                lines.append(f"        {row}: {{{values}}}")
    return "\n".join(lines)


def _size(size: int) -> str:
    """Without a unit where none fits."""
    return format_bytes(size).removesuffix("B") if size % 1024 else format_bytes(size)


def tuning_lines(result: TuningResult, profile: str | None = None) -> Iterator[str]:
    """The verdict, what wins, the trade-off, and the block."""
    per_rank = format_bytes(result.size_bytes)
    yield (
        f"tune      {f'plane {result.plane}: ' if result.plane else ''}{result.pattern} of {per_rank}, for "
        f"{result.goal}: {counted(result.tried, 'setting')} in {counted(result.runs, 'run')}"
    )
    yield f"          {verdict_words(result)}"
    yield f"          present: {setting_words(result.present.setting)}"
    for parameter, why in result.fixed.items():
        yield f"          {parameter} not searched: {why}"
    if result.spreading and result.is_spreading_better:
        yield f"          {spreading_words(result)}"
    if result.confirmed:
        yield ""
        yield f"what wins, on draws {_range(result.unseen_seeds)}, which the search did not see"
        yield from _table(_winning(result))
    yield ""
    yield f"trade-off, on draws {_range(result.searched_seeds)} of the search"
    yield from _table(_trading(result))
    if result.is_better:
        yield ""
        yield "add this to the inventory, and run `fabricgen check`:"
        yield from inventory_block(result, profile).splitlines()
    for one in result.libraries:
        yield ""
        yield library_words(one)
        yield from _variables(one)


def tuning_markdown(result: TuningResult, profile: str | None = None) -> str:
    """The same for a pull request."""
    parts = [
        f"**{result.pattern}{f' on plane {result.plane}' if result.plane else ''}, for {result.goal}:** "
        f"{verdict_words(result)}",
        f"Present: {setting_words(result.present.setting)}.",
    ]
    if result.spreading and result.is_spreading_better:
        parts.append(f"{spreading_words(result)}.")
    if result.confirmed:
        parts += [f"On draws {_range(result.unseen_seeds)}, which the search did not see:", _markdown(_winning(result))]
    parts += [f"Trade-off, on draws {_range(result.searched_seeds)} of the search:", _markdown(_trading(result))]
    if result.is_better:
        parts.append(f"```yaml\n{inventory_block(result, profile)}\n```")
    for one in result.libraries:
        parts.append(library_words(one))
        if one.variables:
            parts.append("\n".join(["```text", *_variables(one), "```"]))
    return "\n\n".join(parts)


def verdict_words(result: TuningResult) -> str:
    """The verdict with its gain."""
    best = result.best
    if best is None:
        met = result.goal is Goal.NO_PAUSE and not result.present.pauses
        return "keep what you have: " + ("no run has a pause" if met else "the search found nothing better")
    draws = f"on {counted(len(result.unseen_seeds), 'unseen draw')}"
    if result.is_better:
        parts = " and ".join(best.trial.setting.changed(result.present.setting))
        return f"change {parts}: {result.shown_gain(best)} {draws}"
    why = "better beyond chance" if best.gain.low <= 0 else "better by 1 %, or has more faults"
    return f"keep what you have: the best one found is not {why}: {result.shown_gain(best)} {draws}"


def spreading_words(result: TuningResult) -> str:
    """The proposal to spread packets, with its gain and what it takes."""
    gain = result.shown_gain(result.spreading) if result.spreading else ""
    return (
        f"packets over all links: {gain} on {counted(len(result.unseen_seeds), 'unseen draw')}. If switches and NICs "
        "can, set load_balancing to spray or adaptive: hosts then get NCCL_IB_ADAPTIVE_ROUTING=1, and with several "
        "queue pairs NCCL_IB_SPLIT_DATA_ON_QPS=1"
    )


def library_words(one: LibrarySettings) -> str:
    """What a version of NCCL or RCCL needs, in a line."""
    what = "set this for jobs, beyond its defaults:" if one.variables else "no variable is to change"
    return f"{one.library} {one.version}, with {counted(one.channels, 'channel')} of each NIC: {what}"


def _variables(one: LibrarySettings) -> list[str]:
    return [f"{name}={text}" for name, text in one.variables.items()]


def setting_words(one: Setting) -> str:
    """A setting in a line."""
    alpha = "" if one.dynamic_th is None else f", alpha 2^{one.dynamic_th}"
    return (
        f"Kmin {format_bytes(one.kmin_bytes)}, Kmax {format_bytes(one.kmax_bytes)} at 400G, Pmax {one.pmax_percent} %"
        f"{alpha}, {counted(one.queue_pairs, 'queue pair')}"
    )


def _winning(result: TuningResult) -> list[list[str]]:
    rows = [["setting", *_METRICS, "gain", "interval"], ["present", *_metrics(result.present), "", ""]]
    for one in result.confirmed:
        gain = one.gain
        shown = [result.shown(gain.median), f"{result.shown(gain.low)} to {result.shown(gain.high)}"]
        rows.append([one.name, *_metrics(one.trial), *shown])
    return rows


def _trading(result: TuningResult) -> list[list[str]]:
    rows = [["Kmin", "Kmax", "Pmax", "alpha", "QPs", *_METRICS]]
    for one in result.front:
        setting = one.setting
        alpha = "-" if setting.dynamic_th is None else f"2^{setting.dynamic_th}"
        sizes = map(format_bytes, (setting.kmin_bytes, setting.kmax_bytes))
        rows.append([*sizes, f"{setting.pmax_percent}%", alpha, str(setting.queue_pairs), *_metrics(one)])
    return rows


def _metrics(one: Trial) -> list[str]:
    return [f"{one.p99_ns / 1000:.1f}", f"{one.gbytes:.1f}", f"{one.pauses:.1f}", f"{one.queue_ns / 1000:.1f}"]


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Text to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = not rows[1][0][:1].isdigit()
    for row in rows:
        cells = [f"{text:>{width}}" for text, width in zip(row, widths, strict=True)]
        yield "  ".join([f"{row[0]:<{widths[0]}}" if left else cells[0], *cells[1:]]).rstrip()


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    listed = [f"| {' | '.join(row)} |" for row in body]
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *listed])


def _range(seeds: Sequence[int]) -> str:
    return f"{seeds[0]} to {seeds[-1]}"
