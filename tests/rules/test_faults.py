"""Named kinds of faults on all switches at once: found without a correct switch to compare with."""

import pytest

from benchmarks.faults import KINDS, faulty, finding_of
from tests.rules.clean import clean_fabric

PART = {
    "traditional": (
        "wred-0-0", "wred-1-2-bytes", "wred-times-100", "weights-swapped", "weights-1-to-100", "queues-swapped",
        "cnps-in-lossy-scheduler", "second-queue-row", "second-group-row",
        "second-buffer-queue-row", "roce-dscp-rewritten", "dscp-off-by-one", "cable-times-10", "trimming-of-lossless",
        "counters-every-1-ms", "watchdog-alert", "watchdog-5000-ms", "groups-with-egress-profile",
        "mtu-of-switch-links-below-hosts", "autoneg-on-optics", "holdtime-below-keepalive", "holdtime-twice-keepalive",
        "session-reflects-routes", "session-without-asn", "type-spine", "one-address-on-two-ports",
        "one-address-on-a-free-port", "vlan-with-address-of-host", "vlan-with-address-of-neighbor",
        "vlan-with-subnet-of-a-port", "loopback-with-address-of-host", "loopback-with-address-of-neighbor",
        "channel-with-address-of-host", "channel-with-address-of-neighbor", "routed-port-in-channel",
        "routed-port-in-vlan", "links-of-24", "links-of-30",
    ),
    "dynamic": ("alpha-minus-8", "oversubscription-8", "lossless-mtu-1024", "cable-times-10", "wred-times-100"),
}  # fmt: skip


@pytest.mark.parametrize(("model", "names"), PART.items(), ids=PART)
def test_faults_of_a_template_are_found(model: str, names: tuple[str, ...]) -> None:
    bundle = clean_fabric(model).bundle()
    kinds = {kind.name: kind for kind in KINDS}
    missed = []
    for name in names:
        broken, changed = faulty(bundle, kinds[name])
        assert len(changed) > 1, name
        missed += [] if finding_of(broken, kinds[name], changed) else [name]
    assert missed == []


def test_names_of_kinds_are_unique() -> None:
    names = [kind.name for kind in KINDS]
    assert len(names) == len(set(names)) > 100
