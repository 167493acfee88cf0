"""Fixtures of all tests: golden files, the command line in this process, and the real OpenSM with its tools."""

import ctypes
import gc
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fabricgen.cli.main import run
from fabricgen.simulate.deadlock.infiniband.failures import rerouted
from fabricgen.simulate.opensm import PACKAGES, Tools, find_tools
from tests.components import missing, tool
from tests.inventories import QUICKSTART, two_rails, write
from tests.schemas import check_json

pytest_plugins = ["tests.cost", "tests.examples", "tests.whole"]
SCENARIO = Path(__file__).parents[1] / "benchmarks" / "fuzz" / "scenario.json"

# Hundreds of tests start fabricgen. Without bytecode on disk each start compiles all modules, which takes a second, and
# each worker compiles all tests, which takes half a minute.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
os.environ["FABRICGEN_NO_CACHE"] = "1"  # no test finds the results of another one

# glibc keeps freed memory for the process: after files with large fabrics that was a fifth of a worker.
MALLOC_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None)

# The first search for cycles is after the collection: searches among 12,000 tests took a fifth of it.
gc.disable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """--update-golden writes golden files instead of comparing with them."""
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite golden files; read their diff before committing"
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the packet engine once, beside the first tests: else each worker would, for half a minute."""
    if session.config.getoption("numprocesses", None) and not hasattr(session.config, "workerinput"):
        words = ("-m", "fabricgen", "-q", "simulate", "packets", "--scenario", str(SCENARIO))
        compiler = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        session.config.add_cleanup(lambda: (compiler.kill(), compiler.wait()))


def pytest_configure(config: pytest.Config) -> None:
    """Each worker starts with other folders: what it compiles, the others find on disk. That takes 20 s of CPU."""
    worker = getattr(config, "workerinput", None)
    if worker and config.args == config.getini("testpaths"):
        folders = sorted(str(one) for one in Path(__file__).parent.iterdir() if any(one.glob("**/test_*.py")))
        first = len(folders) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
        config.args = folders[first:] + folders[:first]


Golden = Callable[[Path, bytes], None]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """All workers have the tests in one order. --update-golden runs the tests that write, and no other."""
    items.sort(key=lambda item: item.path.parts)
    if config.getoption("--update-golden"):
        items[:] = [item for item in items if "update" in getattr(item, "fixturenames", ())]


@pytest.fixture(scope="session")
def update(request: pytest.FixtureRequest) -> bool:
    """Whether the test rewrites its file instead of comparing with it."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def golden(update: bool) -> Golden:
    """Compare bytes with a golden file, or rewrite it."""

    def check(file: Path, actual: bytes) -> None:
        if update:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(actual)
        assert file.is_file(), f"no golden file {file}: pytest --update-golden makes it"
        assert actual.decode() == file.read_text(), f"{file} differs; pytest --update-golden rewrites it"

    return check


@dataclass(frozen=True)
class Outcome:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


Cli = Callable[..., Outcome]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run the command in this process. JSON that it prints has the form of its schema."""

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            run([str(argument) for argument in arguments])
        text = capsys.readouterr()
        check_json([str(argument) for argument in arguments], text.out)
        return Outcome(int(stop.value.code or 0), text.out, text.err)

    return call


def pytest_collection_finish() -> None:
    """Searches for cycles do not read modules and tests: that took a sixth of the run."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def garbage() -> Iterator[None]:
    """Free the cycles that the tests of a file leave. What is left then are values that later files use."""
    yield
    gc.collect()
    gc.freeze()
    if MALLOC_TRIM is not None:
        MALLOC_TRIM(0)


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """A test leaves no thread: what it does later, for example to the state of `random`, fails another test."""
    before = set(threading.enumerate())
    yield
    left = [thread for thread in threading.enumerate() if thread not in before]
    for thread in left:
        thread.join(5)
    assert not [thread for thread in left if thread.is_alive()]


@pytest.fixture(scope="session")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of the quickstart. Do not change it."""
    folder = tmp_path_factory.mktemp("quickstart")
    copy = shutil.copytree(QUICKSTART, folder / "inventory")
    with pytest.raises(SystemExit):
        run(["-q", "render", str(copy), "--output", str(folder / "bundle")])
    return folder / "bundle"


@pytest.fixture
def bundle(rendered: Path, tmp_path: Path) -> Path:
    """A copy of the bundle of the quickstart that a test may change."""
    return Path(shutil.copytree(rendered, tmp_path / "bundle"))


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rails, whose check takes a fourth of the quickstart's: `inventory` with its lock, and `bundle`. Do not change
    them."""
    folder = tmp_path_factory.mktemp("small")
    write(folder / "inventory", two_rails())
    with pytest.raises(SystemExit):
        run(["-q", "render", str(folder / "inventory"), "--output", str(folder / "bundle")])
    return folder


@pytest.fixture(scope="session")
def opensm() -> Tools:
    """OpenSM and ibsim."""
    return find_tools() or missing(f"opensm and ibsim on {os.environ.get('PATH')}", f"apt-get install {PACKAGES}")


@pytest.fixture
def few_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenSM routes two sampled failures instead of 16, for tests whose subject is something else."""
    monkeypatch.setitem(rerouted.__kwdefaults__, "most", 2)


@pytest.fixture(scope="session")
def ibdmchk() -> str:
    """The peer of our credit loop check."""
    return tool("ibdmchk", "ibutils")


@pytest.fixture(scope="session")
def netplan() -> str:
    """The program that configures the addresses of hosts."""
    return tool("netplan", "netplan.io")


@pytest.fixture(scope="session")
def ucx_info() -> str:
    """The program that shows what UCX reads."""
    return tool("ucx_info", "ucx-utils")


@pytest.fixture(scope="session")
def ibnetdiscover() -> str:
    """The program that lists the cables of a subnet."""
    return tool("ibnetdiscover", "infiniband-diags")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser of the report and the documentation."""
    return tool("chromium", "chromium")
