"""What selective repeat notes of flows and packets, at the start of a run."""

import numpy as np
from numpy.typing import NDArray

from fabricgen.simulate.packets.records import SELECTIVE
from fabricgen.simulate.packets.state import RunSettings, Selected
from fabricgen.simulate.scenario import Scenario
from fabricgen.vocabulary import Recovery

WORD = 64  # packets whose bits are in one word


def window_of(scenario: Scenario) -> int:
    """The window in packets: not more than the largest flow has, in whole words."""
    most = max((-(-flow.bytes // scenario.transport.payload_bytes) for flow in scenario.flows), default=1)
    return min(scenario.transport.window_packets, -(-most // WORD) * WORD)


def selected_arrays(scenario: Scenario, settings: RunSettings, packets: NDArray[np.int32], events: int) -> Selected:
    """The arrays for flows with some packets; almost empty if all senders go back."""
    if not settings.selective:
        bits = (np.zeros((1, 1), np.uint64) for _ in range(3))
        return Selected(np.zeros(1, SELECTIVE), np.zeros(1, np.int32), *bits)
    flows = np.zeros(len(packets), SELECTIVE)
    flows["limit"] = np.minimum(packets, settings.window)
    flows["selective"] = [one is not Recovery.GO_BACK_N for one in scenario.recoveries]
    flows["in_order"] = [one is Recovery.IN_ORDER_PLACEMENT for one in scenario.recoveries]
    bits = (np.zeros((len(packets), settings.window // WORD), np.uint64) for _ in range(3))
    return Selected(flows, np.zeros(events, np.int32), *bits)
