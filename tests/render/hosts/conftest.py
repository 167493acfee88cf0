"""The process of the stand-ins."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

STAND_IN = Path(__file__).with_name("tools") / "stand_in.py"


@pytest.fixture(autouse=True, scope="package")
def stand_ins() -> Iterator[None]:
    """STAND_INS is the port where the stand-ins of a `Machine` answer."""
    with subprocess.Popen([sys.executable, "-S", str(STAND_IN)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("STAND_INS", server.stdout.readline().strip())
            yield
        server.kill()
