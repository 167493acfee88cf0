"""A comparison of fabrics as the page of the report: where each wins, all rows, times and failures as bars."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from fabricgen import __version__
from fabricgen.page.html import html_page
from fabricgen.quantities import rate_text, share_text, time_text
from fabricgen.report.compare import compare_paragraphs, compare_table
from fabricgen.units import counted

BestOf = Mapping[str, Collection[str]]  # metric -> the fabrics that win it

_CELLS = 5  # of the head of the page
_ABSENT: Mapping[str, object] = {
    "causes": {"summary": "", "rows": [], "more": 0}, "findings": [], "suppressed": [], "titles": {}, "tenants": [],
    "deadlock": [],
    "traffic": [], "packets": [], "bill": None, "differences": None,
}  # fmt: skip


def comparison_page(content: Mapping[str, Any]) -> str:
    """The page of a comparison; `content` is its JSON object."""
    fabrics, wins = content["fabrics"], content["wins"]
    titles, columns, names = compare_table(content)
    name = f"{counted(len(fabrics), 'fabric')} compared"
    best = [
        {"name": win["metric"], "section": "compare", "level": "none", "value": ", ".join(win["best"]),
         "detail": win["shown"]}
        for win in wins
    ]  # fmt: skip
    verdict = {
        "answer": name,
        "level": "warning" if content["unlike"] else "ok",
        "reasons": [*(f"{one[0].upper()}{one[1:]}." for one in content["unlike"]), *_counts(titles, wins)],
        "evidence": best[:_CELLS],
        "not_judged": [*_not_judged(fabrics), "prices, power of hosts and NVLink"],
    }
    best_of = {win["metric"]: win["best"] for win in wins}
    shown = {
        "titles": titles,
        "rows": [[row, *(column.get(row, "") for column in columns)] for row in names],
        "best": {row: [titles.index(name) for name in best_of[metric]] for row, metric in _metrics(names, best_of)},
        "paragraphs": [[title, list(lines)] for title, lines in compare_paragraphs(content)],
        "charts": [*_times(fabrics, best_of), *_failures(fabrics, best_of)],
    }
    tool = {"name": "fabricgen", "version": __version__}
    return html_page(
        {**_ABSENT, "tool": tool, "fabric": {"name": ", ".join(titles)}, "verdict": verdict, "compare": shown}
    )


def _counts(titles: Sequence[str], wins: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    counts = {title: sum(win["best"] == [title] for win in wins) for title in titles}
    yield "Rows in which each alone is the best: " + ", ".join(f"{name} {n}" for name, n in counts.items()) + "."


def _metrics(rows: Sequence[str], best_of: BestOf) -> Iterator[tuple[str, str]]:
    """(row of the table, metric) for the rows whose values are those of a metric that a fabric wins."""
    for row in rows:
        subject, _, what = row.partition(": ")
        metrics = {
            "": f"fewest {subject}",
            "time": f"fastest {subject}",
            "cut off": f"fewest GPUs cut off by {subject}",
        }
        if (metric := metrics.get(what)) in best_of:
            assert metric
            yield row, metric


def _not_judged(fabrics: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What the fabrics without times or without costs of failures lack; of others the same key says how."""
    for fabric in fabrics:
        if fabric["not_judged"] and not (fabric["patterns"] and fabric["failures"]):
            yield f"{fabric['name']}: {fabric['not_judged']}"


def _times(fabrics: Sequence[Mapping[str, Any]], best_of: BestOf) -> Iterator[dict[str, Any]]:
    for pattern in dict.fromkeys(one["pattern"] for fabric in fabrics for one in fabric["patterns"]):
        rows = []
        for fabric in fabrics:
            found = next((one for one in fabric["patterns"] if one["pattern"] == pattern), None)
            if found is not None:
                time, rate = found["time_ns"], found["bus_gbytes"] or found["delivered_gbytes"]
                text = f"{time_text(time['mean'])}, {rate_text(rate['mean'])}"
                low, high = time["least"], time["highest"]
                rows.append({"name": fabric["name"], "value": time["mean"], "low": low, "high": high, "text": text})
        yield _chart(
            f"{pattern}: time, mean with the least and the highest of the draws",
            rows,
            best_of.get(f"fastest {pattern}"),
        )


def _failures(fabrics: Sequence[Mapping[str, Any]], best_of: BestOf) -> Iterator[dict[str, Any]]:
    kinds = dict.fromkeys((one["kind"], one["depth"]) for fabric in fabrics for one in fabric["failures"])
    for kind, depth in kinds:
        rows = []
        for fabric in fabrics:
            found = next((one for one in fabric["failures"] if (one["kind"], one["depth"]) == (kind, depth)), None)
            if found is not None:
                share = share_text(found["share_mean"]) if found["sets"] else f"has no {kind}"
                text = f"{rate_text(found['delivered_gbytes'])}, {share}"
                rows.append({"name": fabric["name"], "value": found["delivered_gbytes"], "text": text})
        if len(rows) > 1:
            what = counted(depth, f"failed {kind}")
            title = f"Bandwidth that {what} leave{'s' if depth == 1 else ''}, and its share of that without"
            yield _chart(title, rows, best_of.get(f"most bandwidth with {what}"))


def _chart(title: str, rows: list[dict[str, Any]], best: Collection[str] | None) -> dict[str, Any]:
    """Bars; those of the fabrics that win the row are marked, none if no fabric does."""
    return {"title": title, "rows": [{**row, "best": row["name"] in (best or ())} for row in rows]}
