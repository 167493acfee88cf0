"""Hash collisions: the number of n flows on the fullest of m equal links, exactly and by draws."""

from collections.abc import Sequence
from math import exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_NEGLIGIBLE = 1e-9


def fullest_link(flows: int, links: int) -> Floats:
    """P(fullest link has k flows) for k = 0, 1, …; flows are independent and each link is equally likely.

    P(max <= k) = n! m^-n [x^n] (sum over j <= k of x^j / j!)^m. A Poisson distribution of mean n/m scales the terms,
    which keeps them in range; repeated squaring computes the power.
    """
    if flows == 0 or links == 0:
        return np.ones(1)
    mean = flows / links
    log_factorial = np.array([lgamma(count + 1) for count in range(flows + 1)])
    poisson = np.exp(np.arange(flows + 1) * log(mean) - mean - log_factorial)
    scale = exp(flows * log(flows) - flows - log_factorial[flows])
    at_most = [0.0]
    for most in range(1, flows + 1):
        at_most.append(min(1.0, _coefficient(poisson[: most + 1], links, flows) / scale))
        if at_most[-1] > 1 - _NEGLIGIBLE:
            break
    return np.diff(np.array(at_most), prepend=0.0)


def _coefficient(polynomial: Floats, power: int, degree: int) -> float:
    """[x^degree] of the polynomial's power."""
    result, square = np.ones(1), polynomial
    while power:
        if power & 1:
            result = np.convolve(result, square)[: degree + 1]
        power >>= 1
        if power:
            square = np.convolve(square, square)[: degree + 1]
    return float(result[degree]) if len(result) > degree else 0.0


def expected_fullest(flows: int, links: int, groups: int = 1) -> float:
    """The mean number of flows on the fullest link of `groups` independent groups of links."""
    at_most = np.minimum(np.cumsum(fullest_link(flows, links)), 1.0) ** groups
    return float(np.sum(1 - at_most))


def expected_used(flows: int, links: int) -> float:
    """The mean number of links with at least one flow."""
    return links * (1 - (1 - 1 / links) ** flows) if links else 0.0


def drawn_fullest(flows: int, links: int, draws: int, seed: int) -> Floats:
    """The number of flows on the fullest link in each of `draws` random draws."""
    random = np.random.default_rng(seed)
    chosen = random.integers(0, links, (draws, flows)) + links * np.arange(draws)[:, None]
    counts = np.bincount(chosen.ravel(), minlength=draws * links).reshape(draws, links)
    fullest: Floats = counts.max(axis=1).astype(float)
    return fullest


_FAIRNESS_DRAWS = 4_000


def uniform_fairness(flows: Sequence[tuple[int, int]], links: int) -> tuple[float, float]:
    """(mean Jain index, mean max-mean ratio) of the numbers of flows on `links`, if a hash spreads them uniformly.

    `flows` are pairs (flows over all links, how often so many cross them). Both are means of draws from multinomial
    distributions, always the same ones, with a standard error below 0.3 %.
    """
    random = np.random.default_rng(0)
    sizes, weights = np.array(flows, np.int64).T
    drawn = np.repeat(sizes, -(-_FAIRNESS_DRAWS * weights // weights.sum()))
    counts = random.multinomial(drawn, np.full(links, 1 / links)).astype(float)
    index = drawn**2 / (links * (counts**2).sum(axis=1))
    return float(index.mean()), float((counts.max(axis=1) * links / drawn).mean())
