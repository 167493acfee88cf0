"""The verdict on tenants equals the one by trying packets between each pair of hosts."""

import importlib.util
import json
import subprocess
import sys
import tempfile
from functools import cache
from itertools import permutations
from pathlib import Path
from types import ModuleType

from hypothesis import given, settings

from fabricgen.isolation import isolation
from fabricgen.isolation.certificate import certificate
from tests.examples import examples
from tests.isolation.small import SmallFabric, small_fabrics

CHECKER = Path(__file__).parents[2] / "docs" / "isolation_check.py"


@cache
def checker() -> ModuleType:
    """The program that verifies certificates, which shares no code with fabricgen."""
    spec = importlib.util.spec_from_file_location("isolation_check", CHECKER)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_run_without_assertions_is_refused() -> None:
    """`python -O` would confirm every certificate."""
    run = subprocess.run([sys.executable, "-O", str(CHECKER), "a", "b"], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and run.stderr.startswith("not checked: python -O")


@given(small_fabrics())
@settings(max_examples=examples(200))
def test_equals_trying_packets(fabric: SmallFabric) -> None:
    """A certificate that the checker confirms means that no packet passes, too."""
    with tempfile.TemporaryDirectory() as folder:
        bundle, file = fabric.write(Path(folder)), Path(folder) / "certificate.json"
        (found,) = isolation(bundle)
        file.write_text(json.dumps(certificate(bundle)))
        try:
            confirmed = checker().main(file, Path(folder))
        except AssertionError:  # a pair leaks, or no single rule is the reason
            confirmed = None
    leaks = cut = apart = together = 0
    for source, target in permutations(range(6), 2):
        anything, roce = fabric.tried(source, target)
        if fabric.wanted(source, target):
            connected = fabric.joined or fabric.place(source)[0] == fabric.place(target)[0]
            together += connected
            cut += connected and not roce
        else:
            apart += 1
            leaks += anything
    assert (found.leaks, found.cut, found.apart, found.together) == (leaks, cut, apart, together)
    assert found.is_proved == (not leaks)
    assert confirmed is None or (confirmed, leaks) == (apart, 0)
