"""The settings of NICs as objects of NVIDIA's nic-configuration-operator, in the place of the script fabricgen-roce.

Kinds and fields: Mellanox/nic-configuration-operator, branches network-operator-26.1.x, 26.4.x and 26.7.x, and 8bfbeb34
(26.10), api/v1alpha1; what it writes: pkg/configuration/configvalidation.go and pkg/dms/client.go.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fabricgen.handoff.chosen import object_name
from fabricgen.handoff.manifests import GROUP_LABEL, OPERATOR, Manifest, Operator, Rail, image, nic_ids

if TYPE_CHECKING:
    from fabricgen.bundle.hosts import ObservedHosts

_MOST_READ_BYTES = 4096


def nic_operator(operator: Operator) -> Manifest:
    """The section of the cluster policy."""
    return {
        "nicConfigurationOperator": {
            "operator": image("nic-configuration-operator", operator),
            "configurationDaemon": image("nic-configuration-operator-daemon", operator),
            "logLevel": "info",
        }
    }


def roce_templates(rails: list[Rail], files: "ObservedHosts", operator: Operator) -> Iterator[Manifest]:
    """A template for each plane and NIC model of a group, with the values of roce/<plane>.conf."""
    kinds: dict[tuple[str, str], list[Rail]] = {}
    for rail in rails:
        if f"roce/{rail.plane.name}.conf" in files.files:
            kinds.setdefault((rail.plane.name, nic_ids(rail).get("deviceID", "")), []).append(rail)
    for (plane, device), own in kinds.items():
        settings = files.settings(f"roce/{plane}.conf")
        ports = max(2, *Counter(rail.nic.rail for rail in own if rail.nic.rail is not None).values(), 0)
        yield nic_template(
            object_name(f"{own[0].group}-{plane}-{device}"),
            own,
            {
                "roceOptimized": {"enabled": True, "qos": _qos(settings, operator)},
                # roceOptimized itself sets CNPs to DSCP 4 and priority 6; these parameters come after it.
                "rawNvConfig": [
                    {"name": f"{name}_P{port}", "value": settings[key]}
                    for port in range(1, ports + 1)
                    for name, key in (("CNP_DSCP", "CNP_DSCP"), ("CNP_802P_PRIO", "CNP_PRIORITY"))
                ],
            },
        )


def nic_template(name: str, rails: list[Rail], more: Manifest) -> Manifest:
    """The template of the NICs of one model: one virtual function, Ethernet, read requests of 4,096 bytes."""
    addresses = [rail.adapter.pci for rail in rails]
    selector: Manifest = {"nicType": nic_ids(rails[0]).get("deviceID", "")}
    selector |= {"pciAddresses": sorted(set(addresses))} if all(addresses) else {}
    return {
        "apiVersion": "configuration.net.nvidia.com/v1alpha1",
        "kind": "NicConfigurationTemplate",
        "metadata": {"name": name, "namespace": OPERATOR},
        "spec": {
            "nodeSelector": {GROUP_LABEL: rails[0].group},
            "nicSelector": selector,
            "template": {
                "numVfs": 1,
                "linkType": "Ethernet",
                "pciPerformanceOptimized": {"enabled": True, "maxReadRequest": _MOST_READ_BYTES},
                **more,
            },
        },
    }


def _qos(settings: Mapping[str, str], operator: Operator) -> Manifest:
    """The values of the script that the operator has a field for."""
    made: Manifest = {"trust": settings["TRUST"], "pfc": settings["PFC"], "tos": int(settings["TOS"])}
    if operator.has_extended_qos:
        # One priority can be named; DCQCN of the others is on by ROCE_CC_PRIO_MASK, which roceOptimized sets to 255.
        made["ecn"] = {"enabled": True, "priority": settings["PFC"].split(",").index("1")}
        made |= {"cableLen": int(settings["CABLE_M"]), "pauseFrames": {"enabled": False}}
    return made
