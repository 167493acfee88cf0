"""How often a tracked ASN is in the path that a switch advertises, for loop checks."""

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import Indices, Words
from fabricgen.routing.network import Network


class AsnCounts:
    """Bit planes per tracked ASN: plane k is set if the ASN is more than k times in the advertised path.

    Which of several equally long paths is advertised depends on history, so each plane has two versions: `may` (on some
    possible path) and `must` (on every path). The last plane is that of the largest allowas-in.
    """

    def __init__(
        self, network: Network, asn: NDArray[np.int64], allowas_in: NDArray[np.int64], tracked: NDArray[np.int64],
        origin: Words,
    ) -> None:  # fmt: skip
        self.network, self.allowas_in = network, allowas_in
        self.has_refused = False  # a receiver may refuse a path
        self.members = [asn == number for number in tracked]
        self.may: list[Words] = []
        for member in self.members:
            listening = member[network.source]
            planes = int(allowas_in[listening].max(initial=0)) + 1
            may = np.zeros((planes, *origin.shape), np.uint64)
            may[0, member] = origin[member]
            self.may.append(may)
        self.must = [may.copy() for may in self.may]

    def check(self, candidates: Indices, offer: Words) -> Words:
        """Removes from `offer` (candidates x words) the paths that the receiver must refuse; returns those it must
        accept."""
        source, target = self.network.source[candidates], self.network.target[candidates]
        accepted = offer.copy()
        for member, may, must in zip(self.members, self.may, self.must, strict=True):
            checking = member[source].nonzero()[0]
            limit, sender = self.allowas_in[candidates[checking]], target[checking]
            self.has_refused = self.has_refused or bool((accepted[checking] & may[limit, sender]).any())
            offer[checking] &= ~must[limit, sender]
            accepted[checking] &= ~may[limit, sender]
        return accepted & offer

    def extend(self, candidates: Indices, offer: Words, starts: Indices, new: Words, possible: Words) -> bool:
        """Moves the planes one hop along `offer` to the switches with `new` bits; True if any plane changed.

        `starts` are the runs of `candidates` with one receiver. `possible` are the paths that each switch can have had
        before. Most ASNs are in the paths of a few switches only: no other receiver is looked at.
        """
        if not len(candidates):
            return False
        target = self.network.target[candidates]
        receivers = self.network.source[candidates[starts]]
        run = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(candidates)))
        changed = False
        for member, may, must in zip(self.members, self.may, self.must, strict=True):
            holds = may[0].any(axis=1)
            matters = member[receivers] | holds[receivers]
            matters[run[holds[target]]] = True
            those = matters[run].nonzero()[0]
            if not len(those):
                continue
            rows, sent, sender = receivers[matters], offer[those], target[those]
            fresh, earlier, first = new[rows], possible[rows], bits.segment_starts(run[those])
            some = np.stack([np.bitwise_or.reduceat(plane[sender] & sent, first) for plane in may])
            every = np.stack([np.bitwise_and.reduceat(plane[sender] | ~sent, first) for plane in must])
            own = member[rows]  # they add the ASN to the path
            for planes in (some, every):
                planes[1:, own] = planes[:-1, own]
                planes[0, own] = fresh[own]
            wider = may[:, rows] | (some & fresh)
            surer = (must[:, rows] & ~fresh) | (every & fresh & (must[:, rows] | ~earlier))
            changed = changed or bool((wider != may[:, rows]).any() or (surer != must[:, rows]).any())
            may[:, rows], must[:, rows] = wider, surer
        return changed
