"""Mixed bits: numbers that look independent, the same in every run."""

import numpy as np
from numpy.typing import NDArray

_U64 = np.uint64
GOLDEN = _U64(0x9E3779B97F4A7C15)


def mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """64 mixed bits of each key: the finaliser of MurmurHash3 (public domain)."""
    keys = (keys ^ (keys >> _U64(33))) * _U64(0xFF51AFD7ED558CCD)
    keys = (keys ^ (keys >> _U64(33))) * _U64(0xC4CEB9FE1A85EC53)
    return keys ^ (keys >> _U64(33))
