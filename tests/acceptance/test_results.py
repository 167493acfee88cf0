"""Files of measuring programs: what they print is read, and other files are refused with their name."""

import json
from pathlib import Path

import pytest

from fabricgen.acceptance.planned import GBPS, PlannedTest, Stage, dump_tests, load_tests
from fabricgen.acceptance.results import MIBYTES, read_result
from fabricgen.errors import UnreadableInputError
from tests.acceptance.runs import nccl_json, nccl_text, put, rccl_json

RECORDED = """\
# nThread 1 nGpus 1 minBytes 4294967296 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1
#
# Using devices
#  Rank  0 Group  0 Pid 175231 on   gpu-000.site.example device  0 [0000:18:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid 175232 on   gpu-001 device  0 [0000:18:00] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
  4294967296    1073741824     float     sum      -1    22032  194.94  365.52      0    22011  195.13  365.87      0
  8589934592    2147483648     float     sum      -1    43944  195.47  366.51      0    43925  195.56  366.68    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 366.145
#
"""


def test_text_of_nccl_tests(tmp_path: Path) -> None:
    put(tmp_path / "a.txt", RECORDED)
    found = read_result(tmp_path / "a.txt", GBPS)
    assert (found.value, found.ranks, found.count, found.wrong) == (366.68, ("gpu-000", "gpu-001"), 2, 0)


def test_text_without_a_row_is_no_measurement(tmp_path: Path) -> None:
    put(tmp_path / "a.txt", RECORDED[: RECORDED.index("  4294967296")] + "gpu-001: Test NCCL failure: remote error\n")
    assert read_result(tmp_path / "a.txt", GBPS).value is None


@pytest.mark.parametrize(("form", "ranks"), [(nccl_json, ("a", "b")), (rccl_json, ())])
def test_json_of_collectives(form: object, ranks: tuple[str, ...], tmp_path: Path) -> None:
    put(tmp_path / "a.json", form(["a", "b"], 366.5, 3))  # type: ignore[operator]
    found = read_result(tmp_path / "a.json", GBPS)
    assert (found.value, found.ranks, found.count, found.wrong > 0) == (366.5, ranks, 2, True)


def test_wrong_elements(tmp_path: Path) -> None:
    put(tmp_path / "a.txt", nccl_text(["a"], 366.5, 2))
    assert read_result(tmp_path / "a.txt", GBPS).wrong == 8


def test_the_unit_of_perftest_is_given(tmp_path: Path) -> None:
    results = '"results": {"MsgSize": 1048576, sl:3, "n_iterations": 9, "BW_peak": 0.0, "BW_average": 46750.0}'
    put(tmp_path / "a.json", '{"test_info": {"Device": "mlx5_0"}, ' + results + "}")
    assert read_result(tmp_path / "a.json", MIBYTES).value == pytest.approx(392.17, abs=0.01)
    assert read_result(tmp_path / "a.json", GBPS).value == 46750.0


def test_iperf3(tmp_path: Path) -> None:
    put(tmp_path / "a.json", json.dumps({"start": {}, "end": {"sum_received": {"bits_per_second": 9.41e10}}}))
    assert read_result(tmp_path / "a.json", GBPS).value == pytest.approx(94.1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\n", "not a result of a known program"),
        ('{"a": 1}', "not a result of a known program"),
        ('{"test_info": {}, "results": {}}', "BW_average|bw_avg"),
        ('{"test_info": ', "not JSON"),
        ("[]", "no row|not a result"),
    ],
)
def test_other_files(text: str, message: str, tmp_path: Path) -> None:
    put(tmp_path / "a.json", text)
    if text == "[]":
        assert read_result(tmp_path / "a.json", GBPS).value is None
        return
    with pytest.raises(UnreadableInputError, match=message):
        read_result(tmp_path / "a.json", GBPS)


def test_lists_of_tests_are_read_back() -> None:
    tests = (
        PlannedTest(
            "far/a", Stage.FAR, "Gb/s", 392.15, 372.5, 352.9, "compute", 0, ("a", "rail0"), ("b", "rail0"), round=3
        ),
        PlannedTest("incast/a", Stage.INCAST, writers=(("a", "x"), ("b", "x")), must_rise=("pauses",)),
        PlannedTest("rails/a", Stage.RAILS, hosts=("a", "b"), collective="all_reduce", ranks_of_host=1),
    )
    assert load_tests(dump_tests(tests)) == tests
    with pytest.raises(ValueError, match="line 2"):
        load_tests(dump_tests(tests[:1]) + b'{"id": "x", "stage": "other"}\n')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"a": 1}, 1]', "a value has another type than the program writes"),
        ('{"test_info": {"Device": "mlx5_0"}}', "'results' is missing"),
    ],
)
def test_json_of_another_program_is_refused_in_words(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(UnreadableInputError, match=words) as refused:
        read_result(tmp_path / "x.json", "")
    assert "Error(" not in str(refused.value)
