"""Each host model of the catalog that has RoCE: what is rendered for it passes its check."""

from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.platforms.catalog import host_model, host_names, nic_model
from fabricgen.rules.run import run
from tests.render.hosts.rendered import write_bundle

INVENTORY = """\
fabricgen: 1
fabric: small
hosts: {{gpu: {{model: {model}, count: 2}}}}
planes:
  compute:
    design: rail-optimized
    hosts: [gpu]
    subplanes: {planes}
    scalable_unit: {{hosts: 2}}
    leaf: {{platform: nvidia-sn5600}}
    spine: {{platform: nvidia-sn5600, count: 2}}
    speed: {speed}G
    lossless: {{classes: {{3: {{dscp: [26]}}}}}}
    addressing: {{loopbacks: 10.0.0.0/16, links: 10.128.0.0/10, hosts: 10.64.0.0/10}}
"""


def inventory(name: str) -> str | None:
    """Two hosts of a model on a RoCE plane; None for models without a compute NIC that runs Ethernet at its speed."""
    model = host_model(name)
    assert model
    compute = [nic for nic in model.nics if nic.plane == "compute" and nic.rail is not None]
    card = nic_model(compute[0].model) if compute else None
    if card is None or not card.driver or compute[0].speed_mbps not in card.ethernet_speeds_mbps:
        return None
    planes = sum(nic.rail == compute[0].rail for nic in compute)
    return INVENTORY.format(model=name, planes=planes, speed=compute[0].speed_mbps // 1000)


MODELS = {name: text for name in host_names() if (text := inventory(name))}


def test_most_models_run_ethernet() -> None:
    assert {"dgx-h100", "hgx-b200", "mi355x", "mi355x-bcm57608", "gb300-nvl72-ethernet"} <= set(MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_rendered_passes(tmp_path: Path, name: str) -> None:
    bundle = open_bundle([write_bundle(tmp_path / "bundle", MODELS[name])])
    assert [str(one) for one in run(bundle) if one.code.startswith("FG9") or one.severity == "error"] == []
