"""Results of lists of uSIDs."""

from dataclasses import dataclass

End = tuple[str, str]  # (switch, port) or (host, NIC)


@dataclass(frozen=True, slots=True)
class WrongList:
    """Lists that do not take the path of the wiring, with one of them: the leaf and the NIC, the outer destination (""
    if a hop has no uSID), the port or switch where the way is another one, and why. `lists` have the same reason."""

    source: str
    nic: End
    destination: str
    at: End
    reason: str
    lists: int


@dataclass(frozen=True, slots=True)
class PathsResult:
    """The lists of a plane, compared with the paths of its wiring.

    `lists` counts one for each path and pair of a leaf and a NIC, `walked` those that were followed through the tables.
    `links` counts directions of links between switches, `least` and `most` how many lists use one, None if not all
    lists were walked. `after_failure` is how many lists a pair of leaves has left at least after one link between
    switches fails, among the pairs that were walked, None without such pairs, and `worst` is that pair.
    """

    name: str
    block: str
    switches: int
    nics: int
    lists: int
    walked: int
    links: int
    wrong: tuple[WrongList, ...]
    least: int | None = None
    most: int | None = None
    after_failure: int | None = None
    worst: tuple[str, str] = ("", "")

    @property
    def is_proved(self) -> bool:
        """Whether all lists arrive, and there are some."""
        return bool(self.walked) and self.walked == self.lists and not self.wrong
