"""Commands of pages run in their order and print what the page shows; `make golden` rewrites the output in one run."""

import gc
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.docs.pages import PAGES, ROOT, as_shown, name_of, refresh, steps, write_files

_SHELL_WORDS = {"cp", "mkdir", "sed"}  # allowed between two calls of fabricgen
_NOT_RUN = {"make", "pip", "python", "git", "ansible-playbook", "lspci", "nvidia-smi", "cd", "fabricgen-env/bin/python"}

Runner = Callable[[Path, bool], None]


@pytest.fixture(autouse=True)
def _without_cycles() -> Iterator[None]:
    """The commands of a page leave cycles of about 10 MiB."""
    yield
    gc.collect()


@pytest.fixture
def run_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> Runner:
    """Run the commands of a page in a folder with the examples and the files of the page; compare or refresh output."""

    def run(page: Path, update: bool) -> None:
        folder = tmp_path / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ROOT / "inventories", folder / "inventories")
        shutil.copytree(ROOT / "tests" / "platforms" / "device", folder / "device")
        write_files(page, folder)
        monkeypatch.chdir(folder)
        for step in steps(page):
            words = shlex.split(step.command, comments=True)
            if not words or words[0] in _NOT_RUN:
                continue
            if words[0] != "fabricgen":
                assert words[0] in _SHELL_WORDS, f"{page.name} shows {step.command!r}"
                subprocess.run(step.command, shell=True, check=True)
                continue
            done = cli(*words[1:])
            assert done.code == step.code, f"{step.command}\n{done.out}{done.err}"
            if step.shown and update:
                refresh(page, step, done.out)
            elif step.shown:
                assert as_shown(done.out) == step.shown.strip(), f"{step.command}: refresh the page with `make golden`"

    return run


@pytest.mark.parametrize("page", [page for page in PAGES if list(steps(page))], ids=name_of)
def test_commands_print_what_the_page_shows(page: Path, run_page: Runner, update: bool) -> None:
    run_page(page, update)


PAGE = """\
# A page

```console
$ fabricgen render inventories/rail-only --output build
old output
$ fabricgen validate build
Checked 1 devices, 1 links, 17 rules: 0 errors, 0 warnings, 0 notes, 0 suppressed.
```

```console
$ fabricgen validate build --select FG4
old output
```
"""
REFRESHED = """\
# A page

```console
$ fabricgen render inventories/rail-only --output build
32 devices: 32 changed, 0 unchanged, 0 removed. Next: fabricgen validate build
$ fabricgen validate build
Checked 32 devices, 1024 links, N rules: 0 errors, 0 warnings, 0 notes, 0 suppressed.
```

```console
$ fabricgen validate build --select FG4
Checked 32 devices, 1024 links, N rules: 0 errors, 0 warnings, 0 notes, 0 suppressed.
```
"""


def test_one_run_of_golden_refreshes_a_page(tmp_path: Path, run_page: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """After it the comparison passes, a second run changes nothing, nor does another number of rules."""
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    with pytest.raises(AssertionError, match="make golden"):
        run_page(page, False)
    run_page(page, True)
    assert page.read_text() == REFRESHED
    monkeypatch.setenv("FABRICGEN_IGNORE", "FG401")  # one rule fewer
    run_page(page, False)
    run_page(page, True)
    assert page.read_text() == REFRESHED


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_counts_the_rules(page: Path) -> None:
    """A number that each new rule changes is not written in a page."""
    text = page.read_text(encoding="utf-8")
    assert as_shown(text) == text.strip()
