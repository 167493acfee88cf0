"""What a judge says about a plane, as one value that text, JSON, pages and comments print."""

import enum
from dataclasses import dataclass


class Level(enum.StrEnum):
    """How a reader should take a statement: its color on a page, its mark in a comment."""

    OK = "ok"
    NONE = "none"  # neither good nor bad
    WARNING = "warning"
    ERROR = "error"


NOT_JUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class Statement:
    """A verdict, how strong it is, and what it covers.

    `claim` is "" where nothing is claimed. `short` is the part of the verdict that a heading has room for; by default
    all of it, with its claim.
    """

    level: Level
    verdict: str
    covers: str
    claim: str = ""
    short: str = ""

    @property
    def heading(self) -> str:
        """'free, proved', '2 victims', 'not judged'."""
        return self.short or self.claimed

    @property
    def claimed(self) -> str:
        """The verdict with its claim: 'free, proved'."""
        return ", ".join(filter(None, (self.verdict, self.claim)))

    def as_object(self) -> dict[str, str]:
        """The statement in JSON."""
        return {"level": self.level, "heading": self.heading, "covers": self.covers, "text": str(self)}

    def __str__(self) -> str:
        """What is claimed, or not judged, comes first; figures follow what they are about: 'free, proved: no cyclic
        buffer dependency on priorities 3, 4 (…)', '256 single failures: 0 cyclic, 0 disconnect hosts'."""
        is_first = self.claim or self.verdict == NOT_JUDGED
        return ": ".join((self.claimed, self.covers) if is_first else (self.covers, self.claimed))
