"""Runs a network, with more room for packets and frames when the loop needs it."""

import numpy as np

from fabricgen.simulate.packets.loop import FINISHED, FRAMES_SHORT, PACKETS_SHORT, advance
from fabricgen.simulate.packets.network import Network, free_packets
from fabricgen.simulate.packets.records import EVENT, aligned
from fabricgen.simulate.packets.state import Run


def advance_to(network: Network, until: int) -> bool:
    """Run up to a time in ticks; whether all flows are complete."""
    while True:
        reason = advance(network.run, until)
        if reason == PACKETS_SHORT:
            network.run = _with_packets(network.run)
        elif reason == FRAMES_SHORT:
            frames = network.run.frames
            network.run = network.run._replace(frames=np.concatenate([frames, np.zeros_like(frames)]))
        else:
            return bool(reason == FINISHED)


def _with_packets(run: Run) -> Run:
    """The run with twice as many packets."""
    before = len(run.events)
    events = aligned(2 * before - run.settings.first_packet, EVENT)
    events[:before] = run.events
    larger = run._replace(events=events)
    free_packets(larger, before)
    return larger
