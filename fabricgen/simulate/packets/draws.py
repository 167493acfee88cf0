"""Random numbers: a function of the seed, the queue and the number of the packet; with compat hpcc those of ns-3.

The function is SplitMix64's, so a seed gives the same run on every machine, and a mark depends on no other queue.
ns-3 draws from MRG32k3a (L'Ecuyer, Good parameters and implementations for combined multiple recursive random number
generators, Operations Research 47, 1999). A stream is 2^127 numbers long and has substreams of 2^76. HPCC takes each
draw from a new stream: the first number of the substream that is the seed of the run. It draws for a packet of each
kind, a marked one, too (SwitchMmu::ShouldSendCN), and for the identification of a pause frame (QbbNetDevice::SendPfc).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.state import Run

STREAM_BITS, SUBSTREAM_BITS = 127, 76
# The streams that HPCC opens before the first mark, found by equal completion times in networks of 10 and 11 nodes.
_STREAMS_PER_NODE, _OTHER_STREAMS = 6, 2
_SEED = 1  # ns-3's default
_MODULI = (4294967087, 4294944443)
_STEPS = (((0, 1, 0), (0, 0, 1), (-810728, 1403580, 0)), ((0, 1, 0), (0, 0, 1), (-1370589, 0, 527612)))


def jump(component: int, steps: int) -> NDArray[Any]:
    """The matrix of many steps of a component, modulo its modulus."""
    modulus, found = _MODULI[component], np.eye(3, dtype=object)
    power = np.array(_STEPS[component], object) % modulus
    while steps:
        if steps & 1:
            found = found @ power % modulus
        power, steps = power @ power % modulus, steps >> 1
    return found


_NEXT_STREAM = np.array([jump(component, 1 << STREAM_BITS) for component in range(2)], np.uint64)
_NORM = 1 / 4294967088
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1, _M2 = (np.uint64(modulus) for modulus in _MODULI)


def first_stream(seed: int, nodes: int) -> NDArray[np.uint64]:
    """The state of the stream of the first mark, [component, 3]; `seed` is ns-3's number of the run."""
    steps = (_STREAMS_PER_NODE * nodes + _OTHER_STREAMS << STREAM_BITS) + (seed << SUBSTREAM_BITS)
    state = np.full(3, _SEED, object)
    return np.array([jump(one, steps) @ state % _MODULI[one] for one in range(2)], np.uint64)


@inlined
def draw(run: Run, port: int, lane: int) -> float:
    """A random number between 0 and 1 for the packet that has left a queue."""
    if run.settings.truncated:
        return _first_of_stream(run)
    place = np.uint64(run.ports[port].rank * 16 + lane + 1)
    queue = mixed(np.uint64(run.settings.seed) + place * GOLDEN)
    bits = mixed(queue + np.uint64(run.queues[port, lane].sent) * GOLDEN)
    return float(bits >> np.uint64(11)) * 2.0**-53


@inlined
def _first_of_stream(run: Run) -> float:
    """The first number of the next stream."""
    streams = run.streams
    low = (np.uint64(1403580) * streams[0, 1] % _M1 + _M1 - np.uint64(810728) * streams[0, 0] % _M1) % _M1
    high = (np.uint64(527612) * streams[1, 2] % _M2 + _M2 - np.uint64(1370589) * streams[1, 0] % _M2) % _M2
    skip_stream(run)
    difference = low - high if low > high else low + _M1 - high
    return float(difference) * _NORM


@inlined
def skip_stream(run: Run) -> None:
    """Go to the next stream."""
    streams = run.streams
    for component in range(2):
        modulus = _M1 if component == 0 else _M2
        jump = _NEXT_STREAM[component]
        a, b, c = streams[component, 0], streams[component, 1], streams[component, 2]
        for row in range(3):
            total = jump[row, 0] * a % modulus + jump[row, 1] * b % modulus + jump[row, 2] * c % modulus
            streams[component, row] = total % modulus


@inlined
def mixed(bits: Any) -> Any:
    """The finalizer of SplitMix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
