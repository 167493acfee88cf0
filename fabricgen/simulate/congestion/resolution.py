"""The limit of the model: where ports pause, data flows like a fluid in it, so the order of single packets is not in
its times. Without pauses, `packet_order` has it.

The last packet of a flow of n packets completes up to half of its turn earlier or later, 1/(2n) of the time of the
flow. `python -m benchmarks.agreement` compares with packets: all victims of one simulator only are such flows.
"""

import numpy as np

from fabricgen.simulate.congestion.packet_order import FEW
from fabricgen.simulate.congestion.stage import VICTIM
from fabricgen.simulate.plane.ports import Flags, Floats
from fabricgen.units import counted


def undecided(factor: Floats, packets: Floats) -> Flags:
    """The flows of a few packets whose HoL factor is so near the limit of victims that the order of packets decides."""
    few = np.asarray(packets) <= FEW
    near: Flags = few & (np.abs(np.asarray(factor) - VICTIM) <= VICTIM / (2 * np.maximum(packets, 1)))
    return near


def undecided_words(near: Flags, packets: Floats) -> str:
    """What a verdict says about undecided flows; empty without any."""
    if not near.any():
        return ""
    most = int(packets[near].max())
    return (
        f"the order of packets decides whether {counted(int(near.sum()), 'flow')} of at most {counted(most, 'packet')} "
        "are victims: run `simulate packets`"
    )
