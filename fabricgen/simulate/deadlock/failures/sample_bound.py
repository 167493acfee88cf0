"""The exact upper bound on a share from a random sample (Clopper and Pearson 1934)."""

from math import exp, lgamma, log, log1p


def upper_bound(found: int, drawn: int, confidence: float = 0.95) -> float:
    """The upper bound on a share, with this confidence, if `found` of `drawn` independent draws have the property."""
    if found >= drawn:
        return 1.0
    low, high = found / drawn, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_most(found, drawn, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _at_most(found: int, drawn: int, share: float) -> float:
    """The probability of at most `found` among `drawn` if each has probability `share`."""
    if not 0 < share < 1:
        return float(share == 0)
    return sum(
        exp(
            lgamma(drawn + 1) - lgamma(count + 1) - lgamma(drawn - count + 1)
            + count * log(share) + (drawn - count) * log1p(-share)
        )
        for count in range(found + 1)
    )  # fmt: skip
