"""The parts of a scenario file that credits replace, and buffers that are too small for a packet."""

from collections.abc import Iterator, Mapping
from typing import Any

from fabricgen.results import Compat
from fabricgen.simulate.scenario.model import CongestionControl
from fabricgen.simulate.scenario.places import Mistake

_REPLACED = {
    "switch_defaults": "credits.buffer_bytes is the buffer of each port and class",
    "pfc": "credits replace pause frames",
    "storms": "only pause frames can begin a storm",
    "failures": "the model of credits has no links that fail",
}


def credit_mistakes(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    """The mistakes of a scenario with credits, which matches the schema; none without credits."""
    if "credits" not in tree:
        return
    yield from _of_transport(tree)
    for key, reason in _REPLACED.items():
        if tree.get(key):
            yield (key,), f"the scenario has credits: {reason}"
    if tree.get("compat") == Compat.HPCC:
        yield ("compat",), "HPCC's simulator does not have credits"
    for index, link in enumerate(tree["links"]):
        for end in ("a_buffers", "b_buffers"):
            if link.get(end):
                yield ("links", index, end), f"the scenario has credits: {_REPLACED['switch_defaults']}"
    for index, each in enumerate(tree.get("classes", ())):
        if not each.get("lossless", True):
            yield ("classes", index, "lossless"), "with credits no class drops packets: expected true"


def _of_transport(tree: Mapping[str, Any]) -> Iterator[Mistake]:
    transport, buffer_bytes = tree["transport"], tree["credits"]["buffer_bytes"]
    if transport["congestion_control"] != CongestionControl.NONE:
        yield ("transport", "congestion_control"), "the model of credits has no congestion control"
    if not transport["ack_lossless"]:
        yield ("transport", "ack_lossless"), "with credits, ACKs travel in the class of their flow: expected true"
    packet = transport["payload_bytes"] + transport["header_bytes"]
    if buffer_bytes < packet:
        yield ("credits", "buffer_bytes"), f"{buffer_bytes} bytes do not hold a packet of {packet} bytes"
