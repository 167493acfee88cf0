"""Runs a network, with more room for packets and frames when the loop needs it."""

import numpy as np

from fabricgen.simulate.packets.loop import FINISHED, FRAMES_SHORT, PACKETS_SHORT, advance
from fabricgen.simulate.packets.network import Network
from fabricgen.simulate.packets.room import with_packets


def advance_to(network: Network, until: int) -> bool:
    """Run up to a time in ticks; whether all flows are complete."""
    while True:
        reason = advance(network.run, until)
        if reason == PACKETS_SHORT:
            network.run = with_packets(network.run)
        elif reason == FRAMES_SHORT:
            frames = network.run.frames
            network.run = network.run._replace(frames=np.concatenate([frames, np.zeros_like(frames)]))
        else:
            return bool(reason == FINISHED)
