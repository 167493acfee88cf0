"""Every help has two examples, and each of them runs."""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fabricgen.bundle.read import Bundle, open_bundle
from tests.acceptance.runs import Run
from tests.adopt import expressed
from tests.cli.examples import all_commands, examples_of
from tests.conftest import Cli
from tests.diff.test_cables import as_planned, dump
from tests.docs.pages import ROOT, write_files
from tests.inventories import two_rails, write
from tests.render.test_srv6 import sprayed

COMMANDS = dict(all_commands())
DEVICE = Path(__file__).parents[1] / "platforms" / "device" / "acme" / "x86_64-acme_box4-r0"
PAGES = Path(__file__).parents[2] / "docs"
SCENARIO = Path(__file__).parents[2] / "benchmarks" / "fuzz" / "scenario.json"
QUICK_BUDGET = 1_000_000  # packet hops
SERVERS = ("fabricgen lsp",)  # they run until the client ends; tests/lsp talks to one
SOURCES_OF_TRUTH = re.compile("import netbox|--plan$|--apply$")  # tests/dcim has a server for these examples


def speakers() -> Path:
    """An inventory whose hosts speak BGP."""
    write_files(PAGES / "access.md", Path())
    return Path("speakers")


OTHERS: Mapping[
    str, Callable[[], Path]
] = {  # what `build` is rendered from, where quickstart has nothing for the command
    "handoff dhcp": lambda: ROOT / "inventories" / "networks",
    "handoff host-bgp": speakers,
    "handoff paths": lambda: write(Path("sprayed"), sprayed()),
    "simulate paths": lambda: write(Path("sprayed"), sprayed()),
}
WATCHES = " --watch"  # until an interrupt; tests/cli/test_watch.py sends one
PREPARED = (
    "render my-fabric --output build",
    "render my-fabric-grown --output build-next",
    "init my-subnets --example infiniband",
    "render my-subnets --output subnets",
)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_two_examples_of_its_command(name: str) -> None:
    examples = examples_of(COMMANDS[name])
    assert len(examples) >= 2
    assert all(f"{example} ".startswith(f"{name} ") for example in examples)
    assert len(set(examples)) == len(examples)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_terminal_of_80_columns(name: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal breaks a longer line within a word. Summaries of subcommands are whole."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = cli(*name.split()[1:], "--help").out
    assert [
        line for line in shown.splitlines() if len(line) > 80 or line.endswith("...") > line.startswith("Usage")
    ] == []


def test_every_output_has_the_same_short_option() -> None:
    given = [each.opts for command in COMMANDS.values() for each in command.params if "--output" in each.opts]
    assert len(given) > 30 and all(names == ["--output", "-o"] for names in given)


def test_the_commands_are_all_there() -> None:
    assert len(COMMANDS) >= 26
    assert {"fabricgen simulate packets", "fabricgen handoff ztp", "fabricgen import sonic-device"} < set(COMMANDS)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the examples name: inventories, bundles, running configurations, LLDP, a device folder."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        write(Path("my-fabric"), two_rails(32, 16))
        write(Path("my-fabric-grown"), two_rails(48, 16))
        for line in PREPARED:
            assert run(line) == 0, line
    shutil.copytree(folder / "build" / "sonic", folder / "running")
    sku = shutil.copytree(DEVICE, folder / "x86_64-vendor_model-r0")
    (sku / "Acme-Box4-P4").rename(sku / "Model-C64")
    (folder / "addresses.csv").write_text("device,loopback\ncompute-spine-00,10.0.9.1\n")
    (folder / "site-b.yaml").write_text("fabric: site-b\n")
    shutil.copy(SCENARIO, folder / "scenario.json")
    write_files(PAGES / "jobs.md", folder)
    write_foreign(open_bundle([folder / "build"]), folder)
    dump(as_planned(folder / "build"), str(folder / "lldp"))
    return folder


def write_foreign(bundle: Bundle, folder: Path) -> None:
    """The bundle as files of other tools."""
    expressed.write(expressed.as_avd(bundle), folder / "intended" / "structured_configs")
    design = "spine: {defaults: {platform: vEOS, loopback_ipv4_pool: 10.0.0.0/24}, nodes: [{name: spine1, id: 1}]}\n"
    expressed.write({"spines.yml": design}, folder / "group_vars" / "DC1")
    wiring = expressed.as_hhfab(bundle, "arista-7060x6-64pe")
    for place in (folder, folder / "include"):
        expressed.write(wiring, place)
    graphs = expressed.as_minigraphs(bundle)
    expressed.write(graphs, folder / "graphs")
    few = (text for name, text in graphs.items() if "leaf" in name)
    expressed.write(dict(zip(("leaf1.xml", "leaf2.xml"), few, strict=False)), folder)


def run(line: str) -> int:
    from fabricgen.cli.main import run as command

    with pytest.raises(SystemExit) as stop:
        command(shlex.split(line))
    return int(stop.value.code or 0)


@pytest.mark.parametrize(
    "example",
    [
        one
        for name, command in COMMANDS.items()
        for one in examples_of(command)
        if name not in SERVERS and WATCHES not in one and not SOURCES_OF_TRUTH.search(one)
    ],
)
def test_each_example_runs(example: str, site: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    # fabricgen replaces files and never writes into them, so links are copies.
    monkeypatch.chdir(shutil.copytree(site, tmp_path / "site", copy_function=os.link))
    words = shlex.split(example.partition(" > ")[0])[1:]
    if words[0] in ("init", "import"):
        shutil.rmtree(words[words.index("--output") + 1] if "--output" in words else words[1], ignore_errors=True)
    if words[0] == "accept":  # too many files to copy for every example
        Run(open_bundle([Path("build")])).write(Path("acceptance"))
    if inventory := OTHERS.get(" ".join(words[:2])):
        shutil.rmtree("build")
        assert cli("render", inventory(), "-o", "build", "-q").code == 0
    if words[0] == "tune" and "--budget" not in words:  # a smaller search; tests/simulate/tuning look at results
        words += ["--budget", str(QUICK_BUDGET)]
    done = cli(*words)
    assert done.code == 0, done.out + done.err


@pytest.mark.parametrize("name", ("fabricgen handoff netbox", "fabricgen import netbox"))
def test_each_example_of_a_source_of_truth_parses(name: str) -> None:
    for example in filter(SOURCES_OF_TRUTH.search, examples_of(COMMANDS[name])):
        COMMANDS[name].make_context(name, shlex.split(example.removeprefix(name)))


@pytest.mark.parametrize("name", SERVERS)
def test_each_example_of_a_server_parses(name: str) -> None:
    for example in examples_of(COMMANDS[name]):
        words = shlex.split(example.removeprefix(name))
        assert not COMMANDS[name].make_context(name, words).args
