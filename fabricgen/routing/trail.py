"""How often a tracked ASN stands in the path that a switch advertises: what loop checks look at."""

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing.bits import Indices, Words
from fabricgen.routing.network import Network


class Trail:
    """Bit planes per tracked ASN: plane k says that the ASN stands more than k times in the advertised path.

    Which of several equally long paths is advertised depends on history, so there are two versions of each plane:
    `may` (on some possible path) and `must` (on every one). Planes go up to the largest allowas-in that is compared.
    """

    def __init__(
        self, network: Network, asn: NDArray[np.int64], allowas_in: NDArray[np.int64], tracked: NDArray[np.int64],
        origin: Words,
    ) -> None:  # fmt: skip
        self.network, self.allowas_in = network, allowas_in
        self.has_refused = False  # whether some receiver may refuse some path
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
        """Removes from `offer` (candidates x words) what the receiver surely refuses; gives what it surely accepts."""
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
        """Carries the planes over one hop, along `offer`, to the switches with `new` bits; whether any changed.

        `starts` are the runs of `candidates` with one receiver; `possible` is what each switch may have held before.
        """
        if not len(candidates):
            return False
        target = self.network.target[candidates]
        rows = self.network.source[candidates[starts]]
        fresh, earlier = new[rows], possible[rows]
        changed = False
        for member, may, must in zip(self.members, self.may, self.must, strict=True):
            some = np.stack([np.bitwise_or.reduceat(plane[target] & offer, starts) for plane in may])
            every = np.stack([np.bitwise_and.reduceat(plane[target] | ~offer, starts) for plane in must])
            own = member[rows]  # these put the ASN into the path once more
            for planes in (some, every):
                planes[1:, own] = planes[:-1, own]
                planes[0, own] = fresh[own]
            wider = may[:, rows] | (some & fresh)
            surer = (must[:, rows] & ~fresh) | (every & fresh & (must[:, rows] | ~earlier))
            changed = changed or bool((wider != may[:, rows]).any() or (surer != must[:, rows]).any())
            may[:, rows], must[:, rows] = wider, surer
        return changed
