"""ansible-lint with its strictest profile on the complete project."""

import os
import subprocess
from pathlib import Path

from fabricgen.handoff.ansible import ansible_files
from fabricgen.handoff.folder import write_folder
from tests.components import script
from tests.handoff.small_bundle import DEVICES, make_bundle


def test_the_project_is_clean_in_profile_production(tmp_path: Path) -> None:
    command = script("ansible-lint")
    project = tmp_path / "project"
    write_folder(project, ansible_files(make_bundle(tmp_path / "bundle", DEVICES[:1])))
    environment = {
        **os.environ,
        "PATH": f"{Path(command).parent}:{os.environ['PATH']}",
        "ANSIBLE_HOME": str(tmp_path / "ansible"),
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        [command, "--offline", "--profile", "production"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failure(s), 0 warning(s)" in done.stderr + done.stdout
    assert "Profile 'production'" in done.stderr + done.stdout
