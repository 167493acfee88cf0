"""A manager that its own file makes inactive is not started, so nothing waits for its first sweep."""

from pathlib import Path
from typing import cast

from fabricgen.simulate.opensm.proof import prove
from fabricgen.simulate.opensm.tools import Tools
from tests.opensm.small import TREE, rendered


def test_an_inactive_manager_is_not_started(tmp_path: Path) -> None:
    folder = rendered(tmp_path, TREE) / "infiniband" / "compute"
    conf = folder / "opensm.conf"
    conf.write_text(conf.read_text() + "sm_inactive TRUE\n")
    without_tools = cast("Tools", None)  # any use of them fails
    assert prove(without_tools, tmp_path / "no-netlist", folder).is_inactive
