"""One whole file of each role and buffer model, for people to review: `pytest --update-golden` rewrites them."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import Cli, Golden
from tests.inventories import ARISTA, NVIDIA, QUICKSTART

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module", params=[ARISTA, NVIDIA])
def bundle(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The quickstart on a platform, rendered."""
    from fabricgen.cli.main import run

    folder = tmp_path_factory.mktemp(request.param)
    for file in QUICKSTART.iterdir():
        text = file.read_text().replace(ARISTA, request.param)
        (folder / file.name).write_text(text)
    with pytest.raises(SystemExit) as stop:
        run(["render", str(folder), "-o", str(folder / "b"), "-q", "--locked"])
    assert not stop.value.code
    return request.param, folder / "b"


@pytest.mark.parametrize("device", ["compute-su01-r3-leaf", "compute-spine-02"])
def test_config_db(device: str, bundle: tuple[str, Path], golden: Golden) -> None:
    platform, folder = bundle
    role = device.rsplit("-", 1)[-1].replace("02", "spine")
    golden(GOLDEN / f"{platform}-{role}.json", (folder / "sonic" / device / "config_db.json").read_bytes())


def test_wiring(bundle: tuple[str, Path], golden: Golden) -> None:
    platform, folder = bundle
    text = (folder / "fabric.json").read_bytes()
    wiring = json.loads(text)
    kinds = Counter(f"{link['kind']} links" for link in wiring["links"])
    counts = {name: len(wiring[name]) for name in ("devices", "hosts", "links", "cables")}
    seen = {**counts, **dict(sorted(kinds.items())), "sha256": hashlib.sha256(text).hexdigest()}
    golden(GOLDEN / f"{platform}-fabric.json", (json.dumps(seen, indent=2) + "\n").encode())


def test_the_files_stay_reviewable() -> None:
    assert sum(file.stat().st_size for file in GOLDEN.iterdir()) < 1_000_000


def test_golden_comparison_can_fail(golden: Golden, request: pytest.FixtureRequest, tmp_path: Path, cli: Cli) -> None:
    if not request.config.getoption("--update-golden"):
        (tmp_path / "f").write_text("a")
        with pytest.raises(AssertionError, match="--update-golden"):
            golden(tmp_path / "f", b"b")
        with pytest.raises(AssertionError, match="no golden file"):
            golden(tmp_path / "g", b"b")
