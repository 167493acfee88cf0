"""fabricgen reads the files of a subnet manager as the real OpenSM does: words, numbers, blanks, order, repetition."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.c_numbers import c_number
from fabricgen.observed.opensm_dumps import Dumps, read_dumps
from fabricgen.observed.subnet_files import SubnetFiles
from fabricgen.opensm.opensm_conf import OptionFile, read_options
from fabricgen.opensm.options import CHOICES, OptionFact, option_facts, option_problem
from fabricgen.opensm.qos_policy_conf import level_for, read_policy
from fabricgen.rules.run import run
from fabricgen.rules.view.pkey_tables import pkey_tables
from fabricgen.rules.view.subnet_managers import ManagedSubnet
from fabricgen.simulate.opensm import Tools
from fabricgen.simulate.opensm.answers import port_keys, sm_port, tenant_level
from fabricgen.simulate.opensm.bench import Bench, swept
from fabricgen.simulate.opensm.intended_keys import intended_keys
from fabricgen.simulate.opensm.proof import engine_at_work
from tests.opensm.netlists import Net, torus, two_tier, write

# Of opensm.conf: `opensm -c` writes the values that OpenSM has after it read a file.

_KINDS = ("boolean", "charp")  # all others are numbers
_NOT_COMPARED = ("dimn_ports_file", *(name for name, fact in option_facts().items() if name.startswith("cc_")))
FORMS = {
    "boolean": (
        "TRUE", "FALSE", '"TRUE"', "'TRUE'", "TRUE \t", "TRUE\r", "TRUE # c", "TRUE#c", "true", "TRUE\xa0", "TRUE\v",
        "TRUE x", "1", '"TRUE', "TRUE\0x",
    ),
    "charp": (
        "/a/b", '"/a/b"', "'/a/b'", "/a/b ", "/a b", "/a/b\r", "/a#b", "(null)", '"(null)"', "/a\xa0", "/a\v", "/a\0c",
    ),
    "number": (
        "1", "01", "010", "0x2", "0X2", '"2"', "+1", "-1", "1_0", "0b1", "0o7", "1 2", "1,", "2.0", "1e1", "१", "08",
        "99999999999999999999", "256", "65536", "4294967296", "2\r", "0", "31", "200",
    ),
}  # fmt: skip


def read_by_opensm(opensm: Tools, folder: Path, text: str) -> dict[str, str]:
    """Option -> value."""
    (folder / "in.conf").write_bytes(text.encode())
    command = [opensm.opensm, "-F", str(folder / "in.conf"), "-c", str(folder / "out.conf")]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=60)
    lines = (folder / "out.conf").read_text("utf-8", "replace").split("\n")
    return {name: value for name, _, value in (one.partition(" ") for one in lines) if name and name[0] != "#"}


def is_read_as(fact: OptionFact, file: OptionFile, value: str) -> bool:
    if fact.type == "boolean":
        return file.is_true(fact.name) is (value == "TRUE")
    if fact.type == "charp":
        return (file.text(fact.name) or "(null)") == value
    return file.number(fact.name) == c_number(value)


@pytest.mark.parametrize(("kind", "form"), [(kind, form) for kind in FORMS for form in FORMS[kind]])
def test_an_option_has_the_value_that_opensm_reads(opensm: Tools, tmp_path: Path, kind: str, form: str) -> None:
    facts = [
        fact
        for fact in option_facts().values()
        if (fact.type if fact.type in _KINDS else "number") == kind
        and fact.name not in _NOT_COMPARED
        and not ("(null)" in form and option_problem(fact.name, "(null)"))  # OpenSM ends
    ]
    text = "".join(f"{fact.name} {form}\n" for fact in facts)
    file, real = read_options(text), read_by_opensm(opensm, tmp_path, text)
    assert len(file.lines) == len(facts) > 30
    corrected = ("long_transaction_timeout", "m_key_lease_period")  # by other options
    wrong = [
        (fact.name, real[fact.name])
        for fact in facts
        if not option_problem(fact.name, file.options[fact.name].value.text)
        and not is_read_as(fact, file, real[fact.name])
        and fact.name not in corrected
        and not (fact.name == "max_wire_smps" and form == "0")  # no limit
    ]
    assert wrong == []
    if form in ("TRUE", "FALSE", "/a/b") or (kind == "number" and form == "1"):
        assert all(fact.name in CHOICES or not option_problem(fact.name, form) for fact in facts)


@pytest.mark.parametrize("name", [name for name in CHOICES if option_facts()[name].type == "charp"])
def test_opensm_ends_without_a_word(opensm: Tools, tmp_path: Path, name: str) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        read_by_opensm(opensm, tmp_path, f"{name} (null)\n")
    assert "segmentation fault" in (option_problem(name, "(null)") or "")


@pytest.mark.parametrize("length", [1020, 1021, 1022, 1023])
def test_the_rest_of_a_long_comment_is_a_line(opensm: Tools, tmp_path: Path, length: int) -> None:
    text = f"#{'x' * (length - 1)}lmc 3\n"
    assert str(read_options(text).number("lmc")) == read_by_opensm(opensm, tmp_path, text)["lmc"]
    assert (read_options(text).number("lmc") == 3) is (length == 1022)


# Of the other files, OpenSM writes what it does not understand to its log.

NET = two_tier(2, 1, 2)
PORTS = [f"0x{NET.guid(f'H{host}') + 1:x}" for host in range(4)]
DEFAULT = "Default=0x7fff, ipoib : ALL_CAS=limited, ALL_SWITCHES=full, SELF=full ;"
FULL = ", ".join(f"{port}=full" for port in PORTS[1:3])
BLUE = f"blue=0x8001, ipoib : {FULL} ;"


@contextmanager
def managed(opensm: Tools, folder: Path, net: Net, engine: str, extra: str = "") -> Iterator[tuple[Bench, Dumps]]:
    files = write(folder, net, engine, extra=extra)
    with swept(opensm, files / "topology.ibsim", files) as bench:
        yield bench, read_dumps(bench.scratch)


def judged(folder: Path, *codes: str) -> set[str]:
    return {one.code for one in run(open_bundle([folder]), list(codes)) if one.severity != "note"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{DEFAULT}\n{BLUE}\n", ""),
        (f"{DEFAULT}\r\n{BLUE}\r\n", "FG819"),
        (f"{DEFAULT}\n\f\n{BLUE}\n", "FG819"),
        (f"{DEFAULT};\n{BLUE}\n", "FG819"),
        (f"{DEFAULT}\n;\n{BLUE}\n", "FG819"),
        (f"{DEFAULT}\n{BLUE.replace(' ;', '')}\n;\n", "FG819"),
        (f"{DEFAULT}\n{BLUE.replace(' ;', '')}\n", "FG825"),
        (f"{DEFAULT}\n{BLUE.replace(' ;', '')}\n; green=0x8002 : ALL_CAS=limited ;\n", "FG819"),
        (f"{DEFAULT}\n{BLUE.replace(PORTS[1], PORTS[1][:6] + '_' + PORTS[1][6:])}\n", "FG819"),
        (f"{DEFAULT}\n{BLUE.replace(PORTS[1], chr(0xA0) + PORTS[1])}\n", "FG819"),
        (f"{DEFAULT}\n{BLUE.replace(PORTS[1], str(int(PORTS[1], 16)))}\n", ""),
        (f"{DEFAULT}\n{BLUE.replace('0x8001', '0100001')}\n", ""),
        (f"{DEFAULT}\n{BLUE.replace('blue=', '')}\n", ""),
        (f"{DEFAULT}\n{BLUE.replace('0x8001', '0x80_01')}\n", "FG821"),
        (f"Default=0x7fff : SELF=full, ALL_CAS=limited ;\n{BLUE}\n", "FG823"),
        (f"{DEFAULT}\nblue=0x8001 : {FULL}, ALL_CAS=limited ;\n", "FG822"),
        (f"{DEFAULT}\n{BLUE}\nblue=0x8001 : {PORTS[3]}=full ;\n", ""),
        (f"{DEFAULT}\n{BLUE}\nblue : {PORTS[3]}=full ;\n", ""),
        (f"{DEFAULT}\n{BLUE}\nblue=0x8001, sl=1 : {PORTS[3]}=full ;\n", "FG825"),
        (f"{DEFAULT}\nblue=0x8001 : {PORTS[1]}=, {PORTS[2]}=full ;\n", "FG825"),
        (f"{DEFAULT}\nblue=0x8001, defmember= : {PORTS[1]}, {PORTS[2]} ;\n", "FG825"),
        (f"{DEFAULT}\nblue=0x8001, defmember=full, defmember=x : {PORTS[1]}, {PORTS[2]} ;\n", "FG825"),
        (f"{DEFAULT}\nblue=0x8001 :\n mgid=ff12:401b::707, {PORTS[1]}=full\n {PORTS[2]}=full ;\n", "FG825"),
        (f"{DEFAULT}\nblue=0x8001 : mgidx=ff12::1, {FULL} ;\n", "FG819"),
        (f"Default=0x7fff : SELF=full ;\n{BLUE}\n", ""),
    ],
)  # fmt: skip
def test_the_keys_of_ports_are_those_of_opensm(opensm: Tools, tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "partitions.conf").write_bytes(text.encode())
    with managed(opensm, tmp_path, NET, "minhop") as (bench, dumps):
        real = {port: keys or set() for port, keys in port_keys(bench, dumps).items()}
        assert sm_port(bench) == int(PORTS[0], 16)
        is_rejected = "Partition configuration in error" in bench.log
    found = judged(tmp_path, "FG819", "FG821", "FG822", "FG823", "FG825")
    assert found == ({code} if code else set())
    assert is_rejected is bool(found & {"FG819"} or "0x80_01" in text)
    if is_rejected:
        assert set(map(frozenset, real.values())) == {frozenset({0xFFFF})}
        return
    manager = real.pop(int(PORTS[0], 16))  # SELF
    assert (0xFFFF in manager) is (code != "FG823")
    tables = pkey_tables(ManagedSubnet(SubnetFiles("", "", tmp_path), None))
    assert {port: set(keys) - {0} for port, keys in tables.items() if port in real} == real
    if not code:  # the intent of a file with no mistake, to which the proof compares
        meant = intended_keys(text, [*tables], [], int(PORTS[0], 16))
        wrong = [port for port, keys in real.items() if not meant.keys[port] <= keys]
        assert not wrong and (meant.has_generated or all(meant.keys[port] == keys for port, keys in real.items()))


LEVELS = "qos-levels\nqos-level\nname: DEFAULT\nsl: 0\nend-qos-level\nqos-level\nname: fast\nsl: 1\nend-qos-level\n"
POLICY = f"{LEVELS}end-qos-levels\nqos-match-rules\nqos-match-rule\nuse: it\npkey: 0x8001\nqos-level-name: fast\n"
POLICY += "end-qos-match-rule\nend-qos-match-rules\n"


def ulp(line: str) -> str:
    return f"{POLICY}qos-ulps\n{line}\nend-qos-ulps\n"


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        (POLICY, True),
        (POLICY.rstrip(), True),
        (f"{POLICY}# end", False),
        (POLICY.replace("\n", "\r\n"), False),
        (POLICY.replace("sl: 1", "sl: 1\nsl: 1"), False),
        (POLICY.replace("sl: 1", "sl: 0x1"), True),
        (POLICY.replace("sl: 1", "sl: 010"), True),
        (POLICY.replace("sl: 1", "sl: 1\nmtu-limit: 4096"), False),
        (POLICY.replace("sl: 1", "sl: 1\nmtu-limit: 4"), True),
        (POLICY.replace("sl: 1", "sl: 1\nrate-limit: 400"), False),
        (POLICY.replace("sl: 1", "sl: 1\npacket-life: x"), False),
        (POLICY.replace("use: it", "use:"), False),
        (POLICY.replace("use: it", "use: qos-level, sl: 3"), True),
        (POLICY.replace("use: it", 'use: it"'), True),
        (POLICY.replace("use: it", 'use: it"').replace("fast", '"fast"'), False),
        (POLICY.replace("fast", "qos-level-1"), False),
        (POLICY.replace("fast", "a,b"), False),
        (POLICY.replace("name: fast", "name: FAST", 1), True),
        (POLICY.replace("DEFAULT", "Default"), True),
        (POLICY.replace("DEFAULT", "DEFAULTS"), False),
        (POLICY.replace("pkey: 0x8001", "pkey: 0x8005\npkey: 0x0001"), True),
        (POLICY.replace("pkey: 0x8001", "pkey: blue"), False),
        (POLICY.replace("pkey: 0x8001\n", ""), True),
        (POLICY.replace("pkey: 0x8001", "pkey: 0x8001\nsource: unknown"), False),
        (ulp("default : 3"), True),
        (ulp("any, pkey 0x8001 : 3"), True),
        (ulp("any, pkey 0x8001 : 3").replace("pkey: 0x8001", "pkey: 0x8005"), True),
        (ulp("any, pkey blue : 3"), False),
        (ulp("sdp, port-num 70000 : 3"), False),
        (ulp("foo : 3"), False),
        (ulp(""), False),
        (ulp("ipoib, pkey 0x8001 : 3"), True),
        (ulp("ipoib, pkey 0x8009 : 3"), False),
        (f"{POLICY}port-groups\nport-group\nport-guid: 0x1\nend-port-group\nend-port-groups\n", False),
        (f"{POLICY}port-groups\nend-port-groups\n", False),
    ],
)  # fmt: skip
def test_a_policy_is_read_or_rejected_as_by_opensm(opensm: Tools, tmp_path: Path, text: str, is_read: bool) -> None:
    (tmp_path / "partitions.conf").write_text(f"{DEFAULT}\n{BLUE}\n")
    (tmp_path / "qos-policy.conf").write_bytes(text.encode())
    with managed(opensm, tmp_path, NET, "minhop") as (bench, dumps):
        assert ("ERR AC03" not in bench.log and "ERR AC04" not in bench.log) is is_read
        level = tenant_level(bench, dumps, 0x8001, [int(port, 16) for port in PORTS[1:3]])
    assert (judged(tmp_path, "FG832") == set()) is is_read
    if is_read:
        expected = level_for(read_policy(text), 0x8001)
        assert expected is not None and c_number(expected.text) == level


GRID, TORUS = torus((4, 3), 1)
FAR = f"0x{GRID.guid('S1'):x}"


@pytest.mark.parametrize(
    ("text", "is_used"),
    [
        (TORUS, True),
        (TORUS.replace("\n", "\r\n"), True),
        (TORUS.replace("torus 4 3 1", "torus 0x4 03 1 1 1"), True),
        (TORUS.replace("torus 4 3 1", "next_seed\ntorus 4T 3t 1"), True),
        (f"{TORUS}torus 4 3 1\n", False),
        (f"{TORUS.replace('torus 4 3 1', '')}torus 4 3 1\n", False),
        (TORUS.replace("portgroup_max_ports 16", "portgroup_max_ports 01"), False),
        (TORUS.replace("portgroup_max_ports 16", "portgroup_max_ports 0x10"), True),
        (f"{TORUS}port_order 999\n", False),
        (f"{TORUS}max_changes\n", False),
        (f"{TORUS}x_dateline 4\n", False),
    ],
)
def test_a_torus_is_read_or_rejected_as_by_opensm(opensm: Tools, tmp_path: Path, text: str, is_used: bool) -> None:
    (tmp_path / "torus-2QoS.conf").write_bytes(text.encode())
    with managed(opensm, tmp_path, GRID, "torus-2QoS") as (bench, _):
        assert (engine_at_work(bench) == "torus-2QoS") is is_used
    assert (judged(tmp_path, "FG831") == set()) is is_used


SPINE = f"0x{NET.guid('S2'):x}"


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        (f"# roots\n  {SPINE} # spine\n", True),
        (f"{SPINE}\r\n", True),
        (f"{int(SPINE, 16)}\n", True),
        (f"{SPINE}#x\n", True),
        (f"{SPINE[2:]}\n", False),
        (f"{SPINE},\n", False),
        (f"{SPINE[:8]}_{SPINE[8:]}\n", False),
        (f"\xa0{SPINE}\n", False),
        (f"#{'x' * 254}\n{SPINE}\n", True),
        (f"#{'x' * 255}\n{SPINE}\n", False),
    ],
)
def test_a_list_is_read_or_rejected_as_by_opensm(opensm: Tools, tmp_path: Path, text: str, is_read: bool) -> None:
    (tmp_path / "root_guids").write_bytes(text.encode())
    with managed(opensm, tmp_path, NET, "updn", "root_guid_file /etc/opensm/root_guids") as (bench, _):
        assert (re.search("ERR AA02", bench.log) is None) is is_read
    assert (judged(tmp_path, "FG827") == set()) is is_read
