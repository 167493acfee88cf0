"""Priority groups that pause the ports that feed them, over time.

A group may hold its reserve and alpha times the free buffer of its switch (the dynamic thresholds of Choudhury and
Hahne). Bytes above that are in the headroom, which is not part of the shared pool, and request a pause of the sender.
The group resumes the sender when its headroom is empty and it holds some bytes less than its threshold. A request takes
effect one reaction time later: the way of the frame, the packets in transit, the response of the port.
"""

from dataclasses import dataclass

import numpy as np

from fabricgen.simulate.plane.ports import NO_POOL, Flags, Floats, Ints, Ports


@dataclass(frozen=True, eq=False)
class GroupSettings:
    """The settings of groups, one for each port that feeds one; `pool_bytes` is per pool."""

    pool: Ints
    alpha: Floats
    static: Floats  # bytes of the threshold beside alpha's part
    reserve: Floats
    resume: Floats  # bytes below the threshold
    lag: Ints  # steps between a request and its effect
    pool_bytes: Floats

    def only(self, ports: Flags) -> "GroupSettings":
        """The settings of some of the ports."""
        return GroupSettings(
            self.pool[ports],
            self.alpha[ports],
            self.static[ports],
            self.reserve[ports],
            self.resume[ports],
            self.lag[ports],
            self.pool_bytes,
        )


class Groups:
    """The groups of the ports with the given settings, followed in steps. Without a state they are empty."""

    def __init__(self, settings: GroupSettings) -> None:
        self.settings = settings
        self.guided = settings.pool != NO_POOL
        size = len(settings.pool)
        self.held, self.headroom, self.came, self.gone = (np.zeros(size) for _ in range(4))
        self.full: Flags = np.zeros(size, bool)
        self.requests = np.zeros((int(settings.lag.max(initial=0)) + 1, size), bool)  # of the last steps

    def count(self, came: Floats, gone: Floats) -> None:
        """Add the bytes of each group that came and left in a step."""
        self.held += came - gone
        self.came, self.gone = came, gone

    def paused(self, step: int) -> Flags:
        """The ports that are paused in a step."""
        its, guided = self.settings, self.guided
        self.headroom = np.clip(self.headroom - self.gone, 0.0, np.maximum(self.held, 0.0))
        shared = np.maximum(self.held - its.reserve - self.headroom, 0.0)
        taken = np.bincount(its.pool[guided], weights=shared[guided], minlength=len(its.pool_bytes))
        limit = its.static + its.alpha * np.maximum(its.pool_bytes - taken, 0.0)[its.pool]
        beyond = np.minimum(np.maximum(shared - limit, 0.0), self.came)
        self.headroom += beyond
        shared -= beyond
        over = (self.headroom > 0) | ((shared > 0) & (shared >= limit))
        self.full = guided & (over | (self.full & (shared > np.maximum(limit - its.resume, 0.0))))
        self.requests[step % len(self.requests)] = self.full
        paused: Flags = self.requests[(step - its.lag) % len(self.requests), np.arange(len(its.lag))]
        return paused

    def only(self, ports: Flags) -> "Groups":
        """The groups of some of the ports, in their present state."""
        kept = Groups(self.settings.only(ports))
        kept.held, kept.headroom = self.held[ports], self.headroom[ports]
        kept.came, kept.gone, kept.full = self.came[ports], self.gone[ports], self.full[ports]
        kept.requests = np.ascontiguousarray(self.requests[:, ports])
        return kept


def group_settings(ports: Ports, used: Ints, step_ns: float) -> GroupSettings:
    """The settings of the groups that the `used` ports feed, for steps of `step_ns`."""
    lag = np.round(reaction_ns(ports, used) / step_ns - 0.5)  # the bytes of a step come half a step before its end
    return GroupSettings(
        pool=ports.pool[used],
        alpha=ports.alpha[used],
        static=ports.of_groups(ports.static_bytes)[used],
        reserve=ports.reserve_bytes[used],
        resume=ports.of_groups(ports.xon_offset_bytes)[used],
        lag=np.maximum(lag, 0).astype(np.int64),
        pool_bytes=ports.pool_bytes,
    )


def reaction_ns(ports: Ports, used: Ints) -> Floats:
    """The time from a group's request to its effect. Of the two packets in transit, one at each end, half have been
    sent on average."""
    taken: Floats = (ports.reaction_bytes[used] - ports.packet_bytes) / ports.bytes_per_ns[used]
    return taken


def least_threshold_bytes(ports: Ports, used: Ints) -> Floats:
    """The threshold of each used port when all used groups of its switch are full; infinite without a group."""
    pool = ports.pool[used]
    guided = pool != NO_POOL
    alphas = np.bincount(pool[guided], weights=ports.alpha[used][guided], minlength=len(ports.pool_bytes))
    share = ports.pool_bytes / (1 + alphas)
    fixed = ports.of_groups(ports.static_bytes)[used] + ports.reserve_bytes[used]
    threshold: Floats = np.where(guided, ports.alpha[used] * share[pool] + fixed, np.inf)
    return threshold
