"""Pictures of runs: round ticks with SI units, colours that differ, an index page, and no empty picture."""

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from fabricgen.report.congestion_svg import tree_pictures
from fabricgen.report.house_style import BYTES, SERIES, TIME, labels, stroke, ticks
from fabricgen.report.picture_folder import write_pictures
from fabricgen.report.series import pauses_svg, queues_svg, series_files
from fabricgen.results import CongestionModel, CongestionResult, CongestionTree, QueueSeries, Series, TreeKind
from tests.hostile.payloads import PAYLOAD

SVG = "{http://www.w3.org/2000/svg}"
QUEUE = QueueSeries("leaf1 Ethernet0", [0, 90_000, 40_000], 131_072, 262_144)


def series(name: str = "compute", queues: tuple[QueueSeries, ...] = (QUEUE,)) -> Series:
    pauses = {"spine1 Ethernet0": [(500, 1500)]} if queues else {}
    return Series(name, [0, 1000, 2000], list(queues), [150_000_000] * 3 if queues else [], pauses, {})


@given(st.floats(1e-3, 1e12), st.integers(3, 9))
def test_ticks_are_round_and_reach_the_highest_value(high: float, count: int) -> None:
    found = ticks(high, count)
    assert found[0] == 0 and found[-1] >= high * (1 - 1e-9) and len(found) <= 2.6 * count + 2
    step = found[1]
    assert re.fullmatch(r"[125]\.0*e[+-]\d+", f"{step:.3e}")
    assert all(abs(later - earlier - step) < 1e-6 * step for earlier, later in pairwise(found))


def test_labels_have_one_unit() -> None:
    assert list(labels([0, 100_000, 200_000], BYTES)) == ["0", "100 kB", "200 kB"]
    assert list(labels([0, 500, 1_500], TIME)) == ["0", "0.5 µs", "1.5 µs"]
    assert list(labels([0, 5e12], TIME)) == ["0", "5000 s"]


def test_lines_differ_in_colour_or_dashes() -> None:
    assert len({stroke(number) for number in range(16)}) == 16 and len(set(SERIES)) == len(SERIES)


def test_a_limit_far_above_the_lines_is_named_only() -> None:
    """The legend has every line; the threshold of 150 MB would press queues of 90 kB flat."""
    root = ElementTree.fromstring(queues_svg(series()))
    texts = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert {"leaf1 Ethernet0", "Kmin", "Kmax", "XOFF of a group, above the picture"} <= set(texts)
    assert {"100 kB", "1 µs", "2 µs"} <= set(texts)
    assert len(list(root.iter(f"{SVG}polyline"))) == 3


def test_an_empty_picture_is_not_written() -> None:
    assert [name for name, _ in series_files(series())] == ["series.json", "queues.svg", "pauses.svg"]
    assert [name for name, _ in series_files(series(queues=()))] == ["series.json"]
    root = ("leaf1", "Ethernet0")
    waits = ((("spine1", "Ethernet4"), root),)
    trees = tuple(CongestionTree(root, TreeKind.INCAST, 1, 1, 0, links) for links in ((), waits))
    result = CongestionResult("incast", CongestionModel.STEADY, name="compute", trees=trees)
    assert [name for name, _ in tree_pictures([result])] == ["congestion-compute-02.svg"]


def test_the_index_has_every_picture_of_the_folder(tmp_path: Path) -> None:
    """Pictures of other runs in the folder are kept and listed; those of this run that are now empty are not. Names
    stay text."""
    write_pictures(tmp_path, {"pauses.svg": pauses_svg(series()).encode(), "b.svg": b"<svg><title>other</title></svg>"})
    write_pictures(tmp_path, {"queues.svg": queues_svg(series(PAYLOAD)).encode()}, ["pauses.svg"])
    page = (tmp_path / "index.html").read_text()
    assert re.findall(r'src="(.*?)"', page) == ["b.svg", "queues.svg"] and "2 pictures" in page
    assert "<script" not in page and not (tmp_path / "pauses.svg").exists()
    write_pictures(tmp_path / "none", {})
    assert not (tmp_path / "none").exists()
