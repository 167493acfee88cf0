"""The indexes of P_Keys, compared with the tables that the real OpenSM writes to the ports."""

import random
from pathlib import Path

import numpy as np
import pytest

from fabricgen.observed.opensm_dumps import read_dumps
from fabricgen.opensm.pkey_table import pkey_table
from fabricgen.simulate.opensm import Tools
from fabricgen.simulate.opensm.answers import _query, directed_routes, sm_port
from fabricgen.simulate.opensm.bench import swept
from fabricgen.simulate.opensm.mad import P_KEYS
from tests.opensm.netlists import two_tier, write

NET = two_tier(4, 2, 4)
DEFAULT = "Default=0x7fff : ALL_CAS=limited, ALL_SWITCHES=full, SELF=full ;\n"
PORTS = [NET.guid(f"H{number}") + 1 for number in range(16)]
WORDS = ("full", "limited", "both")


def tables(opensm: Tools, folder: Path, partitions: str, *, allow_both: bool) -> dict[int, list[int]]:
    """Port GUID -> its table, without the empty entries at the end."""
    extra = f"partition_config_file /etc/opensm/partitions.conf\nallow_both_pkeys {str(allow_both).upper()}"
    files = write(folder, NET, "updn", extra=extra)
    (files / "partitions.conf").write_text(partitions)
    with swept(opensm, files / "topology.ibsim", files) as bench:
        dumps = read_dumps(bench.scratch)
        _, routes = directed_routes(dumps.subnet, sm_port(bench))
        queries = np.array([(P_KEYS, row, 0, 0) for row in range(len(dumps.subnet.adapters))], np.uint16)
        answers = _query(bench, dumps, queries, 32, routes).reshape(-1, 32).tolist()
    ports = (port.port_guid for port in dumps.subnet.adapters)
    return {port: table[: max(np.flatnonzero(table)) + 1] for port, table in zip(ports, answers, strict=True)}


@pytest.mark.parametrize(("allow_both", "with_first"), [(False, False), (True, False), (False, True), (True, True)])
def test_tables_of_random_partitions(opensm: Tools, tmp_path: Path, allow_both: bool, with_first: bool) -> None:
    """Twelve partitions with random keys and members; a port is in at most one with indx0."""
    draw = random.Random(f"{allow_both} {with_first}")
    text, keys = DEFAULT, {port: {0x7FFF} for port in PORTS[1:]}
    first: dict[int, int] = {}
    for number, key in enumerate(draw.sample(range(1, 0x7FFF), 12)):
        leads = with_first and number < 2
        members = PORTS[1 + 7 * number : 8 + 7 * number] if leads else draw.sample(PORTS[1:], 6)
        words = {port: draw.choice(WORDS if allow_both else WORDS[:2]) for port in members}
        listed = ", ".join(f"0x{port:016x}={word}" for port, word in words.items())
        text += f"p{number}=0x{key:04x}{', indx0' if leads else ''} : {listed} ;\n"
        for port, word in words.items():
            keys[port] |= {"full": {key | 0x8000}, "limited": {key}, "both": {key, key | 0x8000}}[word]
            if leads:
                first[port] = key
    found = tables(opensm, tmp_path, text, allow_both=allow_both)
    for port, own in keys.items():
        assert found[port] == pkey_table(own, first=first.get(port), allow_both=allow_both), hex(port)


def test_known_tables() -> None:
    keys = {0x7FFF, 0xF000, 0x8001, 0x8003, 0x0005}
    assert pkey_table(keys) == [0x7FFF, 0xF000, 0x8001, 0x8003, 0x0005]
    assert pkey_table(keys, first=3) == [0x8003, 0xF000, 0x8001, 0x0005, 0x7FFF]
    assert pkey_table({0x7FFF, 0x8005, 0x0005}, allow_both=True) == [0, 0x0005, 0x8005, 0x7FFF]
    assert pkey_table({0x8001}) == [0, 0x8001], "without Default its place stays empty"
