"""Small bundles with hosts, rendered once for all tests."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fabricgen.bundle.write import BundleWriter
from fabricgen.findings import has_errors
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans

COMPUTE = """\
fabricgen: 1
fabric: small
hosts: {{gpu: {{model: {model}, count: 2}}}}
planes:
  compute:
    design: {design}
    hosts: [gpu]
    scalable_unit: {{hosts: 2, planned: 2}}
    leaf: {{platform: arista-7060x6-64pe}}
    spine: {{platform: arista-7060x6-64pe, count: 2}}
    speed: 400G
    lossless: {{classes: {{{classes}}}, cnp: {{dscp: {cnp}}}}}
    addressing: {{loopbacks: 10.0.0.0/16, links: 10.128.0.0/10, hosts: {pool}}}
"""
STORAGE = """\
  {name}:
    design: fat-tree
    purpose: {name}
    hosts: [gpu]
    scalable_unit: {{hosts: 2, planned: 2}}
    leaf: {{platform: arista-7060x6-64pe}}
    spine: {{platform: arista-7060x6-64pe, count: 2}}
    speed: 400G
    addressing: {{loopbacks: 10.1.0.0/16, links: 10.192.0.0/11, hosts: 10.224.0.0/12}}
"""


def inventory(
    model: str = "dgx-h100",
    design: str = "rail-optimized",
    classes: str = "3: {dscp: [26]}, 4: {dscp: [34]}",
    cnp: int = 48,
    pool: str = "10.64.0.0/10",
    more: str = "",
) -> str:
    """Two hosts on a plane."""
    return COMPUTE.format(model=model, design=design, classes=classes, cnp=cnp, pool=pool) + more


@cache
def files_of(text: str) -> dict[str, bytes]:
    """The files that an inventory renders."""
    with TemporaryDirectory(prefix="fabricgen-hosts-") as folder:
        source = Path(folder) / "fabric.yaml"
        source.write_text(text)
        plans = make_plans(source)
        assert not has_errors(plans.findings), plans.findings
        return dict(BundleContent(plans).files())


def write_bundle(folder: Path, text: str | None = None) -> Path:
    """A bundle on disk."""
    with BundleWriter(folder, "small") as writer:
        for path, content in files_of(text or inventory()).items():
            writer.add(path, content)
        writer.commit(1, "digest")
    return folder
