"""What a person accepts: findings that are not to be told, each with a reason and, if wished, a last day."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Suppression:
    """One accepted finding. `place` is where it was written: file#dotted.path.

    An inline one covers what that value of the inventory caused; a listed one what its globs fit.
    """

    code: str
    reason: str
    place: str
    inline: bool = False
    device: str = "*"
    path: str = "*"
    expires: str = ""  # the last day on which it holds, as YYYY-MM-DD

    def covers(self, code: str, device: str, path: str, causes: Callable[[], Sequence[str]]) -> bool:
        """Whether it is about a finding. `causes` gives the finding's places in the inventory, as file#dotted.path."""
        if code != self.code:
            return False
        if self.inline:
            return any(_is_at_or_below(cause, self.place) for cause in causes())
        # "PORT|Ethernet0|*" is about the row as well as about its fields
        return fnmatchcase(device, self.device) and any(fnmatchcase(one, self.path) for one in (path, f"{path}|"))

    def compact(self) -> dict[str, object]:
        """What a bundle keeps of it: all that is not left at its default."""
        return {key: value for key, value in asdict(self).items() if value not in ("", "*", False)}


class Suppressions:
    """All that hold in one run. They remember what they were asked, so that unused ones can be told."""

    def __init__(self, given: Iterable[Suppression] = (), today: date | None = None) -> None:
        self.given = tuple(dict.fromkeys(given))
        day = (today or date.today()).isoformat()  # noqa: DTZ011 (a person's last day is a local one)
        self.expired = tuple(one for one in self.given if one.expires and one.expires < day)
        self.used: set[Suppression] = set()
        self._by_code: dict[str, list[Suppression]] = {}
        for one in self.given:
            self._by_code.setdefault(one.code, []).append(one)

    def match(
        self, code: str, device: str, path: str, causes: Callable[[], Sequence[str]] = lambda: ()
    ) -> Suppression | None:
        """The first suppression that covers a finding and still holds. One that has expired counts as used."""
        found = [one for one in self._by_code.get(code, ()) if one.covers(code, device, path, causes)]
        self.used.update(found)
        return next((one for one in found if one not in self.expired), None)


def is_day(text: str) -> bool:
    """Whether a text is a day as `expires` has it."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_at_or_below(path: str, other: str) -> bool:
    return path == other or path.startswith((f"{other}.", f"{other}["))
