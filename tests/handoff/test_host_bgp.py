"""BGP of hosts for their software: FRR reads its files, and objects of Kubernetes fit their definitions."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UsageError
from fabricgen.handoff.host_bgp import host_bgp_files
from tests.components import tool
from tests.handoff.crd import definitions, problems
from tests.render.hosts.rendered import files_of
from tests.rules.access import BONDED, SPEAKING

SMALL_ASNS = SPEAKING.replace("hosts: 10.224.0.0/12", "hosts: 10.224.0.0/12, asn: {first: 64512, last: 64599}")
DEFINITIONS = Path(__file__).with_name("definitions")


def written(folder: Path, text: str, **options: Any) -> dict[str, str]:
    for path, content in files_of(text).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return {path: content.decode() for path, content in host_bgp_files(open_bundle([folder]), **options)}


def test_frr_reads_the_file_of_each_host(tmp_path: Path) -> None:
    files = written(tmp_path, SPEAKING)
    assert list(files) == ["gpu-000/frr.conf", "gpu-001/frr.conf"]
    text = files["gpu-000/frr.conf"]
    assert "router bgp 64600" in text and " neighbor 10.224.0.1 remote-as 4200000001" in text
    assert "ip prefix-list TO-LEAF-IP seq 5 permit 10.100.0.0/16 ge 17 le 32" in text
    (tmp_path / "frr.conf").write_text(text)
    run = subprocess.run([tool("vtysh", "frr"), "-C", "-f", tmp_path / "frr.conf"], capture_output=True, text=True)
    assert run.returncode == 0 and "Unknown command" not in run.stdout + run.stderr, run.stdout + run.stderr


@pytest.mark.parametrize("speaker", ["cilium", "calico", "metallb"])
def test_objects_fit_their_definitions(tmp_path: Path, speaker: str) -> None:
    files = written(tmp_path, SMALL_ASNS, speaker=speaker)
    documents = list(yaml.safe_load_all(files[f"{speaker}.yaml"]))
    known = definitions(DEFINITIONS)
    judged = [one for one in documents if (one["apiVersion"], one["kind"]) in known]
    assert len(judged) >= len(documents) - 1, "all but the filter of Calico"
    assert [problem for one in documents for problem in problems(one, known)] == []
    text = files[f"{speaker}.yaml"]
    assert "10.224.0.1" in text and "10.224.0.9" in text and "gpu-001" in text


def test_hosts_of_one_leaf_share_an_object(tmp_path: Path) -> None:
    one_leaf = SPEAKING.replace("{hosts: 1, planned: 2}", "{hosts: 2}")
    documents = list(yaml.safe_load_all(written(tmp_path, one_leaf, speaker="cilium")["cilium.yaml"]))
    (config,) = [one for one in documents if one["kind"] == "CiliumBGPClusterConfig"]
    (expression,) = config["spec"]["nodeSelector"]["matchExpressions"]
    assert expression["values"] == ["gpu-000", "gpu-001"]


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (SPEAKING, {"speaker": "calico"}, "Calico's API server refuses AS 4200000001: asNumber is at most 2147483647"),
        (BONDED, {}, "no host of the bundle speaks BGP"),
        (SPEAKING, {"only": "svc*"}, "no host with BGP matches"),
    ],
)
def test_what_cannot_be_is_said(tmp_path: Path, text: str, options: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        written(tmp_path, text, **options)
