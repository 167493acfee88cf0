"""Suppressions: findings that a person accepts, each with a reason and optionally a last day."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Suppression:
    """One suppression. `place` is where it is written, as file#dotted.path.

    An inline suppression covers the findings that its inventory value caused; a listed one those that match its globs.
    """

    code: str
    reason: str
    place: str
    inline: bool = False
    device: str = "*"
    path: str = "*"
    expires: str = ""  # the last day on which it is valid, as YYYY-MM-DD

    def covers(self, code: str, device: str, path: str, causes: Callable[[], Sequence[str]]) -> bool:
        """Whether it covers a finding. `causes` returns the inventory values of the finding, as file#dotted.path."""
        if code != self.code:
            return False
        if self.inline:
            return any(_is_at_or_below(cause, self.place) for cause in causes())
        # "PORT|Ethernet0|*" covers the row and its fields
        return fnmatchcase(device, self.device) and any(fnmatchcase(one, self.path) for one in (path, f"{path}|"))

    def compact(self) -> dict[str, object]:
        """The fields without their default values, as a bundle stores them."""
        return {key: value for key, value in asdict(self).items() if value not in ("", "*", False)}


def this_day() -> date:
    """The day by which suppressions expire: their last day is a local date."""
    return date.today()  # noqa: DTZ011


class Suppressions:
    """The suppressions of one run. `used` contains those that covered a finding."""

    def __init__(self, given: Iterable[Suppression] = (), today: date | None = None) -> None:
        self.given = tuple(dict.fromkeys(given))
        day = (today or this_day()).isoformat()
        self.expired = tuple(one for one in self.given if one.expires and one.expires < day)
        self.used: set[Suppression] = set()
        self._by_code: dict[str, list[Suppression]] = {}
        for one in self.given:
            self._by_code.setdefault(one.code, []).append(one)

    def match(
        self, code: str, device: str, path: str, causes: Callable[[], Sequence[str]] = lambda: ()
    ) -> Suppression | None:
        """The first valid suppression that covers a finding. Expired suppressions that cover it count as used."""
        found = [one for one in self._by_code.get(code, ()) if one.covers(code, device, path, causes)]
        self.used.update(found)
        return next((one for one in found if one not in self.expired), None)


def is_day(text: str) -> bool:
    """Whether a text is a day as in `expires`."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_at_or_below(path: str, other: str) -> bool:
    return path == other or path.startswith((f"{other}.", f"{other}["))
