"""Names of RDMA devices: those that a driver gives, those that rdma-core makes of a PCI address, and fixed ones.

Source: linux-rdma/rdma-core@691953d8 kernel-boot/rdma_rename.c (by_pci, set_fixed_name), rdma-persistent-naming.rules.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

from fabricgen.vocabulary import RdmaNames

# The begin of the names of each driver: linux drivers/infiniband/hw/mlx5/main.c, bnxt_re/main.c, ionic/ionic_ibdev.c.
# NVSHMEM takes only devices with mlx5 in their name, so a fixed name has it, too.
NVSHMEM_PREFIX = "mlx5"  # NVIDIA/nvshmem@2d7d25f src/modules/transport/common/env_defs.h: HCA_PREFIX
_STEMS = {"mlx5_core": "mlx5_", "bnxt_en": "bnxt_re_", "ionic": "ionic_"}
_PCI = re.compile(r"([0-9a-fA-F]{4,8}):([0-9a-fA-F]{2}):([0-9a-fA-F]{2})\.([0-9a-fA-F])")
_NAME_BY_PCI = re.compile(r"(roce|ib)(?:P(\d+))?p(\d+)s(\d+)(?:f(\d+))?")


def rdma_device(names: RdmaNames, nic: str, given: str, driver: str) -> str:
    """The RDMA device of a NIC whose host model has the name `given`; "" if it is unknown."""
    return f"{_STEMS.get(driver, 'rdma_')}{nic}" if names == RdmaNames.NIC else given


def protocol_of(name: str) -> str:
    """ "roce" or "ib" of a name that rdma-core makes of a PCI address; "" of another name."""
    match = _NAME_BY_PCI.fullmatch(name)
    return match[1] if match else ""


def is_at(name: str, pci: str) -> bool:
    """Whether rdma-core can give the name to the device at a PCI address. A name of another form can be at each one."""
    match, place = _NAME_BY_PCI.fullmatch(name), _PCI.fullmatch(pci)
    if match is None or place is None:
        return True
    domain, bus, slot, function = (int(text, 16) for text in place.groups())
    named = tuple(int(text or 0) for text in match.groups()[1:])
    # With alternative routing IDs the function has the slot in its upper bits.
    return named in ((domain, bus, slot, function), (domain, bus, slot, function + 8 * slot))


def name_by_pci(protocol: str, pci: str) -> str:
    """The name of the only function of a device at a PCI address: rocep24s0 for 0000:18:00.0."""
    place = _PCI.fullmatch(pci)
    if place is None:
        return ""
    domain, bus, slot, function = (int(text, 16) for text in place.groups())
    return f"{protocol}{f'P{domain}' if domain else ''}p{bus}s{slot}{f'f{function}' if function else ''}"


def common_part(devices: Sequence[str]) -> str:
    """What all names begin with, without digits at its end; "" if they have nothing in common."""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*devices, strict=False))
    return "".join(letters[0] for letters in same).rstrip("0123456789")
