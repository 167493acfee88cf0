"""The handoffs that the command line offers."""

import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import fabricgen.handoff
from fabricgen.handoff import handoffs
from tests.conftest import Cli


def test_all_handoffs_are_registered() -> None:
    modules = (module for module in pkgutil.iter_modules(fabricgen.handoff.__path__, "fabricgen.handoff."))
    ours = {handoff.name for one in modules if (handoff := getattr(import_module(one.name), "HANDOFF", None))}
    assert len(ours) >= 10 and ours <= handoffs().keys()
    assert {name: one.name for name, one in handoffs().items()} == {name: name for name in handoffs()}


@pytest.mark.parametrize("name", handoffs())
def test_each_is_a_command_with_its_options(name: str, cli: Cli) -> None:
    outcome = cli("handoff", name, "--help")
    text = " ".join(outcome.out.split())
    assert outcome.code == 0 and handoffs()[name].summary in text
    for option in handoffs()[name].options:
        assert f"--{option.name} " in text and option.help in text


def test_help_loads_neither_numpy_nor_jinja() -> None:
    program = (
        "import sys; from fabricgen.cli.main import _exit_code; _exit_code(['handoff', '--help'], False);"
        "print(sorted({'numpy', 'jinja2'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "containerlab" in run.stdout and run.stdout.endswith("[]\n")
