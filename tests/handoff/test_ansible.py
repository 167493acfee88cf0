"""The files of the Ansible project."""

import ast
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

import fabricgen
from fabricgen.bundle.read import open_bundle
from fabricgen.bundle.wiring import WiredLink
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.handoff.ansible import ansible_files
from fabricgen.handoff.management import management_addresses
from tests.components import script
from tests.handoff.small_bundle import DEVICES, cabled, device, make_bundle, write_bundle

SOURCE = Path(fabricgen.__file__).parent
PACKAGE = "roles/sonic_config/module_utils/fabricgen_sonic"


def project(folder: Path, *devices: Any, only: str | None = None) -> dict[str, bytes]:
    """The project of a bundle with these devices."""
    return dict(ansible_files(make_bundle(folder, devices or DEVICES), only))


def groups(files: dict[str, bytes]) -> dict[str, Any]:
    """The groups of inventory.yml."""
    found: dict[str, Any] = yaml.safe_load(files["inventory.yml"])["all"]["children"]
    return found


def plays(files: dict[str, bytes]) -> list[dict[str, Any]]:
    """The plays of apply.yml after the first, which only checks."""
    found: list[dict[str, Any]] = yaml.safe_load(files["playbooks/apply.yml"])
    return found[1:]


def imported_modules(path: str, text: bytes) -> Iterator[str]:
    """The modules that a file imports; those of the role by their path without .py."""
    common = "ansible.module_utils.fabricgen_sonic."
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            folder = PurePosixPath(path).parents[node.level - 1]
            names = [node.module.replace(".", "/")] if node.module else [alias.name for alias in node.names]
            yield from (f"{folder}/{name}" for name in names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            is_own = node.module.startswith(common)
            yield f"{PACKAGE}/{node.module.removeprefix(common).replace('.', '/')}" if is_own else node.module


def test_files_are_the_bundle_s_own_bytes_with_their_digest(tmp_path: Path) -> None:
    files = project(tmp_path)
    for name in ("leaf-r0", "leaf-r1", "spine-0"):
        content = (tmp_path / "sonic" / name / "config_db.json").read_bytes()
        variables = yaml.safe_load(files[f"host_vars/{name}.yml"])
        assert files[variables["fabricgen_config_file"]] == content
        assert variables["fabricgen_config_sha256"] == hashlib.sha256(content).hexdigest()
    variables = yaml.safe_load(files["host_vars/leaf-r1.yml"])
    assert variables["ansible_host"] == "10.255.0.5"
    assert (variables["fabricgen_identity"], variables["fabricgen_role"]) == ("compute/leaf-r1", "leaf")
    assert (variables["fabricgen_rail"], variables["fabricgen_su"]) == (1, 0)


def test_ansible_reads_every_text_as_a_text(tmp_path: Path) -> None:
    """A serial number of digits, a rack 12:30 and switches named no and 0x1f: each is something else to YAML 1.1."""
    places = {"serial": "0123", "rack": "12:30", "unit": "40", "plane": "on"}
    devices = (device("no", rail=0, su=0, **places), device("0x1f", role="spine", plane="on"))
    link = WiredLink("l", "on", "leaf-spine", ("no", "Ethernet0"), ("0x1f", "Ethernet0"), 400000, "")
    files = ansible_files(open_bundle([write_bundle(tmp_path / "bundle", devices, (link,))]))
    for name, content in files:
        if name == "inventory.yml" or name.startswith("host_vars"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(content)
    command = [script("ansible-inventory"), "-i", tmp_path / "inventory.yml", "--list"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["_meta"]["hostvars"]
    assert set(found) == {"no", "0x1f"}
    assert {name: found["no"][f"fabricgen_{name}"] for name in places} == places
    assert found["0x1f"]["fabricgen_links"]["Ethernet0"]["device"] == "no"
    identity = found["no"]["fabricgen_identity"]
    assert identity == {"__ansible_unsafe": "on/no"}, "what could be a template stays marked"


def test_groups_by_plane_rail_role_tier_unit(tmp_path: Path) -> None:
    found = groups(project(tmp_path))
    assert list(found["sonic"]["hosts"]) == ["leaf-r0", "leaf-r1", "spine-0"]
    rails = ["plane_compute_rail_0", "plane_compute_rail_1", "plane_compute_spine"]
    assert list(found["plane_compute"]["children"]) == rails
    members = {name: list(group["hosts"]) for name, group in found.items() if name not in ("sonic", "plane_compute")}
    assert members == {
        "plane_compute_rail_0": ["leaf-r0"],
        "plane_compute_rail_1": ["leaf-r1"],
        "plane_compute_spine": ["spine-0"],
        "role_leaf": ["leaf-r0", "leaf-r1"],
        "role_spine": ["spine-0"],
        "state_active": ["leaf-r0", "leaf-r1", "spine-0"],
        "su_0": ["leaf-r0", "leaf-r1"],
        "tier_1": ["leaf-r0", "leaf-r1"],
        "tier_2": ["spine-0"],
    }


def test_plays_go_rail_by_rail_and_then_up(tmp_path: Path) -> None:
    devices = [
        device("core", "core"),
        device("spine", "spine"),
        device("b10", rail=10),
        device("b9", rail=9),
        device("a", plane="a-storage"),
    ]
    found = plays(project(tmp_path, *devices))
    assert [play["hosts"] for play in found] == [
        "plane_a_storage_leaf",
        "plane_compute_rail_9",
        "plane_compute_rail_10",
        "plane_compute_spine",
        "plane_compute_core",
    ]
    assert {(play["serial"], play["any_errors_fatal"], play["gather_facts"]) for play in found} == {(1, True, False)}


def test_an_absent_switch_is_left_out_of_the_play(tmp_path: Path) -> None:
    devices = [device("a", rail=0), device("b", rail=0, state="planned"), device("c", rail=0, state="drained")]
    files = project(tmp_path, *devices)
    assert plays(files)[0]["hosts"] == "plane_compute_rail_0:!state_planned"
    assert list(groups(files)["state_planned"]["hosts"]) == ["b"]


def test_every_switch_of_a_folder_without_wiring_is_in_one_play(tmp_path: Path) -> None:
    make_bundle(tmp_path)
    files = dict(ansible_files(open_bundle([tmp_path / "sonic"])))
    assert [play["hosts"] for play in plays(files)] == ["unplaced"]
    assert list(groups(files)["unplaced"]["hosts"]) == ["leaf-r0", "leaf-r1", "spine-0"]


def test_only_some_devices(tmp_path: Path) -> None:
    files = project(tmp_path, only="leaf-*")
    assert [path for path in files if path.startswith("files/")] == [
        f"files/{name}/config_db.json" for name in ("leaf-r0", "leaf-r1")
    ]
    with pytest.raises(UsageError, match="no device"):
        project(tmp_path, only="leaf")


def test_equal_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="plane a_b and plane a-b"):
        project(tmp_path / "planes", device("x", plane="a-b", rail=0), device("y", plane="a_b", rail=0))
    with pytest.raises(UsageError, match="device tier_1"):
        project(tmp_path / "device", device("tier_1"))
    with pytest.raises(UsageError, match="a group of Ansible itself"):
        project(tmp_path / "all", device("all"))


def test_a_name_that_is_a_path_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text('{"DEVICE_METADATA": {"localhost": {"hostname": "../../etc/x"}}}')
    assert list(open_bundle([file]).devices) == ["x"]  # FG221 reports the hostname
    file.write_text('{"DEVICE_METADATA": {"localhost": {"hostname": "leaf 1"}}}')
    with pytest.raises(UsageError, match="is not allowed in other tools' files"):
        list(ansible_files(open_bundle([file])))


def test_order_and_bytes_do_not_depend_on_the_order_of_devices(tmp_path: Path) -> None:
    one = list(ansible_files(make_bundle(tmp_path / "one")))
    other = list(ansible_files(make_bundle(tmp_path / "other", DEVICES[::-1])))
    assert one == other


@pytest.mark.parametrize(
    ("rows", "address"),
    [
        ('{"eth0|fd00::1/64": {}, "eth0|10.0.0.10/8": {}, "eth0|10.0.0.9/8": {}}', "10.0.0.9"),
        ('{"eth0|fd00::1/64": {}}', "fd00::1"),
        ('{"eth0": {}, "eth0|nonsense": {}}', ""),
    ],
)
def test_management_address(tmp_path: Path, rows: str, address: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(f'{{"MGMT_INTERFACE": {rows}}}')
    found = [each.ip for each, _ in management_addresses(open_bundle([file]).devices["x"])]
    assert (found or [""])[0] == address


def test_no_compiled_python_travels(tmp_path: Path) -> None:
    paths = [path for path, _ in ansible_files(make_bundle(tmp_path))]
    assert not [path for path in paths if path.endswith((".pyc", ".j2"))]
    assert "roles/sonic_config/library/sonic_config_db.py" in paths


def test_the_role_needs_nothing_but_ansible_and_python(tmp_path: Path) -> None:
    """Each import of its Python files is one of the standard library, of Ansible, or of a file of the role."""
    role = {path: text for path, text in project(tmp_path).items() if path.endswith(".py")}
    assert len(role) > 20
    for path, text in role.items():
        for module in imported_modules(path, text):
            if module.startswith(f"{PACKAGE}/"):
                assert {f"{module}.py", f"{module}/__init__.py"} & role.keys(), (path, module)
            else:
                known = module == "ansible.module_utils.basic" or module.partition(".")[0] in sys.stdlib_module_names
                assert known, (path, module)


def test_the_role_has_no_module_that_it_does_not_use(tmp_path: Path) -> None:
    role = {path: text for path, text in project(tmp_path).items() if path.endswith(".py")}
    used = {module for path, text in role.items() for module in imported_modules(path, text)}
    unused = [path for path in role if path.startswith(PACKAGE) and path.removesuffix(".py") not in used]
    assert [path for path in unused if not path.endswith("/__init__.py")] == []


def test_the_role_s_files_are_those_of_the_package(tmp_path: Path) -> None:
    files = project(tmp_path)
    for name in ("deploy/transaction.py", "diff/changes.py", "sonic/updater/verdicts.py", "__init__.py"):
        assert files[f"{PACKAGE}/{name}"] == (SOURCE / name).read_bytes()
    assert files["roles/sonic_config/library/sonic_state.py"] == (SOURCE / "deploy/library/sonic_state.py").read_bytes()


def test_the_file_that_the_timer_runs_needs_only_the_standard_library(tmp_path: Path) -> None:
    path = f"{PACKAGE}/deploy/restore.py"
    modules = list(imported_modules(path, project(tmp_path)[path]))
    assert "json" in modules
    assert all(module.partition(".")[0] in sys.stdlib_module_names for module in modules)


def test_host_variables_have_the_far_ends_of_cables(tmp_path: Path) -> None:
    variables = yaml.safe_load(dict(ansible_files(open_bundle([cabled(tmp_path)])))["host_vars/leaf-r0.yml"])
    assert variables["fabricgen_links"] == {"Ethernet1": {"device": "spine-0", "port": "Ethernet0", "alias": "etp1"}}
    assert variables["fabricgen_absent"] == ["spine-1"]


def plan_file(folder: Path, *stages: tuple[str, list[str]], **more: Any) -> Path:
    file = folder / "plan.json"
    rollout = [{"stage": stage, "devices": devices} for stage, devices in stages]
    file.write_text(json.dumps({"rollout": rollout, "findings": [], **more}))
    return file


def test_the_play_follows_a_plan(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    file = plan_file(tmp_path, ("spines", ["spine-0"]), ("leaves", ["leaf-r1", "leaf-r0"]))
    found = plays(dict(ansible_files(bundle, plan=str(file))))
    assert [play["hosts"] for play in found] == ["spine-0", "leaf-r1,leaf-r0"]
    assert found[0]["name"] == "Apply 1 of the plan, spines" and {play["serial"] for play in found} == {1}
    nothing = dict(ansible_files(bundle, plan=str(plan_file(tmp_path))))
    assert plays(nothing) == [] and b"--limit ''" not in nothing["README.md"]


def test_a_planned_switch_is_left_out_of_a_plan(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path, [device("a", rail=0), device("b", rail=1, state="planned")])
    file = plan_file(tmp_path, ("one", ["b"]), ("two", ["a"]))
    assert [play["hosts"] for play in plays(dict(ansible_files(bundle, plan=str(file))))] == ["a"]


def test_a_plan_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path)
    with pytest.raises(UsageError, match="other is not among those of the handoff"):
        list(ansible_files(bundle, plan=str(plan_file(tmp_path, ("x", ["other"])))))
    with pytest.raises(UsageError, match="no safe order was found"):
        list(ansible_files(bundle, plan=str(plan_file(tmp_path, ("x", ["leaf-r0"]), findings=[{}]))))
    for text in ("[]", "{", '{"rollout": 1}', '{"rollout": [{"stage": "x", "devices": [1]}]}'):
        (tmp_path / "plan.json").write_text(text)
        with pytest.raises(UnreadableInputError):
            list(ansible_files(bundle, plan=str(tmp_path / "plan.json")))
