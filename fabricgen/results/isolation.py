"""Which hosts of a plane reach which others, compared with the tenants that they belong to."""

from dataclasses import dataclass

SHARED_BY_TENANTS = "PFC is shared by all tenants of a port, and routers outside the fabric are not judged"

RowPlace = tuple[str, str, str]  # switch, table, key


@dataclass(frozen=True, slots=True)
class HostAddress:
    """An address of a host. `tenant` is "" for a host that no tenant has."""

    host: str
    nic: str
    address: str
    tenant: str
    switch: str
    port: str


@dataclass(frozen=True, slots=True)
class WrongPair:
    """A pair of addresses whose packets pass and should not (`leaks`), or do not and should. `rows` are the rows that
    decide it, `reason` says how, and `pairs` counts the pairs that differ only in the hosts of the same classes."""

    source: HostAddress
    target: HostAddress
    leaks: bool
    reason: str
    rows: tuple[RowPlace, ...]
    pairs: int


@dataclass(frozen=True, slots=True)
class Reach:
    """The ordered pairs of addresses from one tenant to another that links connect, those whose packets pass, and those
    whose packets should pass (`expected`). A tenant is "" for hosts that no tenant has."""

    source: str
    target: str
    pairs: int
    passing: int
    expected: int


@dataclass(frozen=True, slots=True)
class IsolationResult:
    """The verdict on one plane: the numbers of tenants, addresses and ordered pairs, and the pairs that are wrong.

    `apart` and `together` count the pairs that must not and must reach each other. `left_out` are NICs whose
    address, or whose port of a switch, the files do not have. `unread` are switches with hosts whose FRR reads another
    file than their tables mean. `matrix` has who reaches whom. `shared` says what the verdict
    does not cover.
    """

    plane: str
    tenants: int
    addresses: int
    apart: int
    together: int
    wrong: tuple[WrongPair, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    unread: tuple[str, ...] = ()
    matrix: tuple[Reach, ...] = ()
    shared: str = SHARED_BY_TENANTS

    @property
    def is_proved(self) -> bool:
        """Whether there are tenants, they are apart, and nothing was left out."""
        is_judged = bool(self.addresses and self.tenants) and not self.left_out and not self.unread
        return is_judged and not any(pair.leaks for pair in self.wrong)

    @property
    def leaks(self) -> int:
        """The number of pairs that reach each other and must not."""
        return sum(pair.pairs for pair in self.wrong if pair.leaks)

    @property
    def cut(self) -> int:
        """The number of pairs that must reach each other and do not."""
        return sum(pair.pairs for pair in self.wrong if not pair.leaks)
