"""The readers of hosts' files beside the real ones: sh, ucx_info, and NCCL's parser rebuilt, with strtoll of libc."""

import ctypes
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.bundle.host_settings import nccl_number, read_settings, ucx_number
from tests.render.hosts.rendered import files_of, inventory

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.strtoll.restype = ctypes.c_longlong
LIBC.strtoll.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int]
LINES = st.text(st.sampled_from("AB_=01x\"' #\r\t7"), max_size=12)


def nccl(text: bytes) -> dict[bytes, bytes]:
    """setEnvFile of NVIDIA/nccl v2.28.7-1 src/misc/param.cc, statement by statement, for an empty environment."""
    environment: dict[bytes, bytes] = {}
    for line in text.split(b"\n"):  # getline; its newline is cut
        if line[:1] == b"#":
            continue
        s = 0
        while s < len(line) and line[s : s + 1] != b"=":
            s += 1
        if s == len(line):
            continue
        name, value = line[: min(1023, s)], line[s + 1 :][:1023]
        if name:  # setenv refuses an empty name
            environment.setdefault(name, value)  # setenv(name, value, 0)
    return environment


def load(text: bytes | None, default: int) -> int:
    """ncclLoadParam of the same file."""
    if not text:
        return default
    ctypes.set_errno(0)
    number = LIBC.strtoll(text, None, 0)
    return default if ctypes.get_errno() else int(number)


@given(st.lists(LINES, max_size=6))
def test_nccl_reads_the_same(lines: list[str]) -> None:
    text = "\n".join(lines)
    expected = {name.decode(): value.decode() for name, value in nccl(text.encode()).items()}
    found = read_settings("nccl.conf", text)
    named = {name: value for name, value in expected.items() if re.fullmatch(r"[A-Za-z_]\w*", name)}
    assert found.values == named, "names that no variable can have are faults instead"
    assert len(found.faults) >= len([name for name in expected if name not in named])
    for name, number in found.lines.items():
        assert lines[number - 1].startswith(f"{name}=")


@given(st.text(st.sampled_from("0123456789abcxX-+ \t\r\"'"), max_size=22))
def test_numbers_are_those_of_strtoll(text: str) -> None:
    assert (nccl_number(text) if nccl_number(text) is not None else -7) == load(text.encode(), -7)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("TRUST=dscp", "TRUST"), ("TRUST = dscp", "TRUST"), ("TRUST= dscp", "TRUST"), ("TRUST=dscp\r", "TRUST"),
        ('I="rail0 rail1"', "I"), ("I=rail0 rail1", "I"), ("  I='a b' # why", "I"), ("export I=a", "I"),
        ("I=a#b", "I"), ("I=a # b c", "I"), ("I='a # b'", "I"), ('I="a #b" #c', "I"), ("I=a;J=b", "I"),
        ('I="a', "I"), ("A=1 I=2", "I"),
    ],
)  # fmt: skip
def test_sh_reads_the_same_or_there_is_a_fault(tmp_path: Path, line: str, key: str) -> None:
    file = tmp_path / "compute.conf"
    file.write_bytes(f"{line}\n".encode())
    done = subprocess.run(["sh", "-euc", f'. "{file}"; printf %s "${key}"'], capture_output=True, text=True)
    found = read_settings("roce/compute.conf", file.read_bytes().decode())
    if found.faults:
        assert found.faults[0].line == 1 and found.faults[0].word in (key, "A")
        return
    assert done.returncode == 0 and found.values[key] == done.stdout


def ucx(program: str, folder: Path, text: str) -> dict[str, str]:
    """What ucx_info makes of a file."""
    (folder / "ucx.conf").write_bytes(text.encode())
    done = subprocess.run([program, "-c"], cwd=folder, capture_output=True, text=True)
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if line.startswith("UCX_"))


CLASSES = ["106", "0x6a", " 104 ; why", "10 4", "1e2", "+98", "0106"]


@pytest.mark.parametrize("text", CLASSES)
def test_ucx_reads_the_same_class(ucx_info: str, tmp_path: Path, text: str) -> None:
    shown = ucx(ucx_info, tmp_path, f"UCX_IB_TRAFFIC_CLASS={text}\n")["UCX_RC_VERBS_TRAFFIC_CLASS"]
    value = read_settings("ucx.conf", f"UCX_IB_TRAFFIC_CLASS={text}\n").values["UCX_IB_TRAFFIC_CLASS"]
    assert str(ucx_number(value)) == shown


FORMS = [
    "UCX_NET_DEVICES=a:1\nUCX_NET_DEVICES=b:1\n", " UCX_NET_DEVICES = a:1\n", "UCX_NET_DEVICES: a\n",
    "UCX_NET_DEVICES=a:1\r\n", "# UCX_NET_DEVICES=a:1\n", "; UCX_NET_DEVICES=a\nUCX_NET_DEVICES=b\n",
    "[all]\nUCX_NET_DEVICES=a\n", "UCX_NET_DEVICES=a\n  b\n",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMS)
def test_ucx_reads_the_same_lines(ucx_info: str, tmp_path: Path, text: str) -> None:
    usual = ucx(ucx_info, tmp_path, "")["UCX_NET_DEVICES"]
    shown = ucx(ucx_info, tmp_path, text)["UCX_NET_DEVICES"]
    assert read_settings("ucx.conf", text).values.get("UCX_NET_DEVICES", usual) == shown


def test_ucx_knows_each_rendered_variable(ucx_info: str, tmp_path: Path) -> None:
    text = files_of(inventory())["hosts/gpu/ucx.conf"].decode()
    shown = ucx(ucx_info, tmp_path, text)
    for name, value in read_settings("ucx.conf", text).values.items():
        words = [key for key in shown if key == name or key.endswith(name.removeprefix("UCX_IB"))]
        assert words and {shown[word] for word in words if "RC_VERBS" in word or word == name} == {value}, name
