"""The ports of each GPU: if one of them is dead, the other ones send its messages."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from fabricgen.simulate.patterns import Adapter, Messages
from fabricgen.simulate.plane.ports import Flags, Ints

_ABSENT = -1


class PortsOfGpus:
    """A GPU is a rail of a host; a NIC without a rail is its own. `of[a]` is the GPU of adapter a and `place[a]` its
    place among the ports of the GPU, which `ports` (GPUs x places) lists."""

    def __init__(self, adapters: Sequence[Adapter]) -> None:
        members: dict[tuple[str, object], list[int]] = {}
        for number, one in enumerate(adapters):
            members.setdefault((one.host, one.nic if one.rail is None else one.rail), []).append(number)
        self.ports = np.full((len(members), max(map(len, members.values()), default=1)), _ABSENT, np.int64)
        self.of, self.place = np.zeros((2, len(adapters)), np.int64)
        for gpu, numbers in enumerate(members.values()):
            self.ports[gpu, : len(numbers)] = numbers
            self.of[numbers], self.place[numbers] = gpu, np.arange(len(numbers))

    def moved(self, messages: Messages, arrives: Callable[[Messages], Flags]) -> tuple[Messages, Flags]:
        """The messages by the ports that can send them, and those that no pair of ports can send.

        First both ends change to the same other place: ports at different places may be on separate networks.
        """
        source, target = messages.source.copy(), messages.target.copy()
        lost = np.flatnonzero(~arrives(messages))
        steps = sorted(product(range(self.ports.shape[1]), repeat=2), key=lambda pair: (pair[0] != pair[1], pair))
        for near_step, far_step in steps[1:]:
            near, far = self._other(messages.source[lost], near_step), self._other(messages.target[lost], far_step)
            there = (near != _ABSENT) & (far != _ABSENT)
            tried = replace(messages.only(lost[there]), source=near[there], target=far[there])
            arrived = np.zeros(len(lost), bool)
            arrived[there] = arrives(tried)
            source[lost[arrived]], target[lost[arrived]] = near[arrived], far[arrived]
            lost = lost[~arrived]
        flags = np.zeros(len(messages), bool)
        flags[lost] = True
        return replace(messages, source=source, target=target), flags

    def _other(self, adapters: Ints, step: int) -> Ints:
        places = self.ports.shape[1]
        found: Ints = self.ports[self.of[adapters], (self.place[adapters] + step) % places]
        return found

    def loses_all_ports(self, messages: Messages, dead: Flags) -> bool:
        """Whether a GPU that sends or receives has no port left."""
        return bool(self.without_port(messages, dead).any())

    def without_port(self, messages: Messages, dead: Flags) -> Flags:
        """The messages from or to a GPU without a port."""
        alive = self._alive(dead)
        found: Flags = ~(alive[self.of[messages.source]] & alive[self.of[messages.target]])
        return found

    def _alive(self, dead: Flags) -> Flags:
        alive: Flags = ((self.ports != _ABSENT) & ~dead[self.ports]).any(axis=1)
        return alive

    def cut_off(self, messages: Messages, lost: Flags, dead: Flags) -> int:
        """The GPUs without a port, and those of whose messages to GPUs with ports none arrives."""
        size = len(self.ports)
        alive = self._alive(dead)
        ends = self.of[np.stack([messages.source, messages.target])]
        between: Flags = np.logical_and(alive[ends[0]], alive[ends[1]])
        involved = np.bincount(ends[:, between].ravel(), minlength=size)
        losing = np.bincount(ends[:, between & lost].ravel(), minlength=size)
        return int((~alive | ((involved > 0) & (losing == involved))).sum())
