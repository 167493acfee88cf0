"""Priority groups that pause the ports they are fed by, as time passes.

A group may hold its reserve and alpha of what its switch has left (Choudhury and Hahne's dynamic thresholds). What
comes beyond lies in the headroom, which is no part of the shared pool, and asks the sender to pause; it may go on when
the headroom is empty again and the group some bytes below its threshold. A request takes effect a reaction time later:
the frame's way, the packets in between, the response of the port.
"""

import numpy as np

from fabricgen.simulate.plane.ports import NO_SWITCH, Flags, Floats, Ints, Ports


class Groups:
    """The groups that the ports `used` feed, followed in steps."""

    def __init__(self, ports: Ports, used: Ints, step_ns: float) -> None:
        self.switch = ports.switch[used]
        self.guided = self.switch != NO_SWITCH
        self.alpha, self.reserve = ports.alpha[used], ports.reserve_bytes[used]
        self.pool = ports.pool_bytes
        self.resume = np.broadcast_to(np.asarray(ports.xon_offset_bytes, float), len(ports))[used]
        lag = np.round(reaction_ns(ports, used) / step_ns - 0.5)  # a step's bytes came half a step before its end
        self.lag: Ints = np.maximum(lag, 0).astype(np.int64)
        self.held, self.headroom, self.came, self.gone = (np.zeros(len(used)) for _ in range(4))
        self.full: Flags = np.zeros(len(used), bool)
        self.asked = np.zeros((int(self.lag.max(initial=0)) + 1, len(used)), bool)

    def count(self, came: Floats, gone: Floats) -> None:
        """Bytes of each group that came and went in a step."""
        self.held += came - gone
        self.came, self.gone = came, gone

    def paused(self, step: int) -> Flags:
        """The ports that may not send in a step."""
        self.headroom = np.clip(self.headroom - self.gone, 0.0, np.maximum(self.held, 0.0))
        shared = np.maximum(self.held - self.reserve - self.headroom, 0.0)
        taken = np.bincount(self.switch[self.guided], weights=shared[self.guided], minlength=len(self.pool))
        limit = self.alpha * np.maximum(self.pool - taken, 0.0)[self.switch]
        beyond = np.minimum(np.maximum(shared - limit, 0.0), self.came)
        self.headroom += beyond
        shared -= beyond
        over = (self.headroom > 0) | ((shared > 0) & (shared >= limit))
        self.full = self.guided & (over | (self.full & (shared > np.maximum(limit - self.resume, 0.0))))
        self.asked[step % len(self.asked)] = self.full
        paused: Flags = self.asked[(step - self.lag) % len(self.asked), np.arange(len(self.lag))]
        return paused

    def keep(self, ports: Flags) -> None:
        """Forget all other ports."""
        for name in (
            "switch",
            "guided",
            "alpha",
            "reserve",
            "resume",
            "lag",
            "held",
            "headroom",
            "came",
            "gone",
            "full",
        ):
            setattr(self, name, getattr(self, name)[ports])
        self.asked = np.ascontiguousarray(self.asked[:, ports])


def reaction_ns(ports: Ports, used: Ints) -> Floats:
    """From a group's request to its effect: of the two packets in the way, one at each end, half is over on average."""
    taken: Floats = (ports.reaction_bytes[used] - ports.packet_bytes) / ports.bytes_per_ns[used]
    return taken


def least_threshold_bytes(ports: Ports, used: Ints) -> Floats:
    """T of each of the used ports when all used groups of its switch are full (infinite where nothing pauses it)."""
    switch = ports.switch[used]
    guided = switch != NO_SWITCH
    alphas = np.bincount(switch[guided], weights=ports.alpha[used][guided], minlength=len(ports.pool_bytes))
    share = ports.pool_bytes / (1 + alphas)
    threshold: Floats = np.where(guided, ports.alpha[used] * share[switch] + ports.reserve_bytes[used], np.inf)
    return threshold
