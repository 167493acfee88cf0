"""The readers of hosts' files beside the real ones: sh, ucx_info, and NCCL's parser rebuilt, with strtoll of libc."""

import ctypes
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.bundle.host_settings import (
    nccl_device_selected,
    nccl_number,
    nccl_selects,
    read_settings,
    systemd_bytes,
    ucx_number,
)
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


# Forms that people write, and lines of issues of NVIDIA/nccl.
ODD = [
    'NCCL_IB_TC="106"', "NCCL_IB_TC='106'", "NCCL_IB_TC=106 ", "NCCL_IB_TC= 106", "NCCL_IB_TC =106", " NCCL_IB_TC=106",
    "\tNCCL_IB_TC=106", "NCCL_IB_TC=106\r", "NCCL_IB_TC=106 # why", "NCCL_IB_TC=106;", "NCCL_IB_TC:106", "NCCL_IB_TC",
    "NCCL_IB_TC=", "=106", "==", "export NCCL_IB_TC=106", "setenv NCCL_IB_TC 106", "#NCCL_IB_TC=106",
    " # NCCL_IB_TC=106", ";NCCL_IB_TC=106", "// NCCL_IB_TC=106", "[nccl]", "NCCL_IB_TC=106=107",
    "NCCL_IB_HCA==mlx5_0,mlx5_1", "NCCL_IB_HCA=^=mlx5_0", "nccl_ib_tc=106", "NCCL-IB-TC=106",
    "NCCL_IB_TC=106,NCCL_IB_SL=3", "NCCL_IB_TC=0x6a",
    "NCCL_IB_TC=106\nNCCL_IB_TC=98", "NCCL_IB_TC=${TC}", "\ufeffNCCL_IB_TC=106", "NCCL_IB_TC=" + "1" * 1100, "",
]  # fmt: skip


@pytest.mark.parametrize("text", ODD)
def test_nccl_reads_odd_lines_the_same(text: str) -> None:
    expected = {name.decode(): value.decode() for name, value in nccl(text.encode()).items()}
    found = read_settings("nccl.conf", text)
    assert found.values == {name: value for name, value in expected.items() if re.fullmatch(r"[A-Za-z_]\w*", name)}
    if set(expected) != set(found.values):
        assert found.faults, "a name that no variable has"


def selects(text: str | None, interface: str) -> bool:
    """ncclFindInterfaces and ncclOsFindInterfaces of NVIDIA/nccl@5067397, with parseStringList and matchIf, for a host
    with this interface and others."""
    given = text if text is not None and len(text) > 1 else "^docker,lo,virbr"
    at = 1 if given[0] == "^" else 0
    search_not, search_exact = at == 1, given[at : at + 1] == "="
    at += search_exact
    users: list[str] = []
    for entry in filter(None, given[at:].split(",")):  # strtok_r skips empty entries
        token = entry.split(":")[0]
        if token and len(users) < 16:
            users.append(token[:63])  # snprintf into prefix[64]
    if not users:
        matched = True
    else:
        lengths = [len(interface) + 1 if search_exact else len(user) for user in users]
        matched = any(f"{interface}\0"[:n] == f"{user}\0"[:n] for user, n in zip(users, lengths, strict=True))
    return matched ^ search_not


@given(
    st.none() | st.text(st.sampled_from("^=,:rail01lo"), max_size=14),
    st.sampled_from(["rail0", "rail1", "rail10", "lo", "eno1", "docker0", "r"]),
)
def test_nccl_selects_the_same_interfaces(text: str | None, interface: str) -> None:
    assert nccl_selects(text, interface) == selects(text, interface)


def chosen(text: str, device: str) -> bool:
    """ncclIbInitDevices of src/transport/net_ib, with parseStringList and matchIfList, for port 1 of a device."""
    at = 1 if text[:1] == "^" else 0
    search_not, search_exact = at == 1, text[at : at + 1] == "="
    users: list[tuple[str, int]] = []
    for entry in filter(None, text[at + search_exact :].split(",")):
        token, *rest = entry.split(":")
        if token and len(users) < 32:
            users.append((token, int(LIBC.atoi(rest[0].encode())) if rest and rest[0] else -1))
    if not users:
        return not search_not
    lengths = [len(device) + 1 if search_exact else len(user) for user, _ in users]
    matched = any(
        f"{device}\0"[:n] == f"{user}\0"[:n] and port in (-1, 1) for (user, port), n in zip(users, lengths, strict=True)
    )
    return matched ^ search_not


@given(st.text(st.sampled_from("^=,:mlx5_01"), max_size=16), st.sampled_from(["mlx5_0", "mlx5_1", "mlx5_10", "m"]))
def test_nccl_selects_the_same_devices(text: str, device: str) -> None:
    assert nccl_device_selected(text, device) == chosen(text, device)


@pytest.mark.parametrize(
    ("text", "size"),
    [("9100", 9100), ("9K", 9216), ("9 K", 9216), ("1M", 1 << 20), ("9100B", 9100), ("9k", None), ("", None)],
)
def test_sizes_are_those_of_systemd(text: str, size: int | None) -> None:
    """systemd v252 src/test/test-parse-util.c has these forms."""
    assert systemd_bytes(text) == size


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
