"""Selective repeat: what both ends of a flow note."""

from typing import Any


class Selective:
    """A flow whose receiver keeps packets out of order."""

    def __init__(self, flow: Any, *, in_order: bool, window: int) -> None:
        self.flow, self.in_order, self.window = flow, in_order, window
        self.received: set[int] = set()
        self.acked: set[int] = set()
        self.waiting: set[int] = set()
        self.asked = self.horizon = 0

    def answer(self, packet: Any) -> str:
        """The kind of the answer to a packet."""
        flow, number = self.flow, packet.number
        new = number >= flow.expected and number not in self.received
        if packet.kind == "trimmed":
            return "refusal" if new else "ack"
        if new:
            self.received.add(number)
        while flow.expected in self.received:
            flow.expected += 1
        return "nak" if number > flow.expected and not self.in_order else "ack"

    def take(self, answer: Any) -> None:
        """An answer arrives at the sender."""
        flow = self.flow
        flow.acked = max(flow.acked, answer.number)
        flow.sent = max(flow.sent, flow.acked)
        if answer.kind == "refusal":
            self._repeat(answer.of)
        else:
            self.acked.add(answer.of)
        self.waiting -= {number for number in self.waiting if number < flow.acked or number in self.acked}
        if answer.kind == "nak":
            for number in range(self.asked, answer.of):
                self._repeat(number)
            self.asked = max(self.asked, answer.of)

    def _repeat(self, number: int) -> None:
        if number >= self.flow.acked and number not in self.acked:
            self.waiting.add(number)

    def expire(self) -> None:
        """The timer expires."""
        for number in range(self.horizon):
            self._repeat(number)

    @property
    def may_send(self) -> bool:
        flow = self.flow
        return bool(self.waiting) or flow.sent < min(flow.packets, flow.acked + self.window)

    def next_number(self) -> int:
        """The packet to send."""
        if self.waiting:
            number = min(self.waiting)
            self.waiting.remove(number)
            return number
        self.flow.sent += 1
        return int(self.flow.sent) - 1
