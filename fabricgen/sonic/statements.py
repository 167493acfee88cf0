"""Statements about SONiC's programs, each with the releases for which it holds and the source that was read.

What a daemon does differs from release to release. So what stand-ins and prices say about daemons is a `Statement`, and
code asks it whether it holds for a release. A test fails as long as a release that fabricgen knows was not read for
each of them.

The Ansible role contains this module: only the standard library and relative imports.
"""

from typing import NamedTuple

from .releases import MASTER

# The branches that were read, at these commits (MASTER: the branch master).
SWSS_COMMITS: dict[int, str] = {
    202305: "ea9f11fd", 202311: "8bc9a27f", 202405: "6785d662", 202411: "8aa8f0f9",
    202505: "e9dcd50b", 202511: "4ea5c3ad", 202605: "2478b9c7", MASTER: "e6b0c5b5",
}  # fmt: skip
HOST_SERVICES_COMMITS: dict[int, str] = {
    202305: "b0a294bc", 202311: "113a5c48", 202405: "9082af73", 202411: "a09889ea",
    202505: "694a2c68", 202511: "8bece5ce", 202605: "327d7958", MASTER: "c2a4cdfe",
}  # fmt: skip
BUILDIMAGE_COMMITS: dict[int, str] = {
    202305: "9c5760cf", 202311: "e5cd212f", 202405: "cfc766e1", 202411: "566f5575",
    202505: "ff3c0c9f", 202511: "fde92d26", 202605: "10ae4708", MASTER: "086b03bd",
}  # fmt: skip


class ProgramStatement(NamedTuple):
    """A statement about a program.

    It holds from release `since` on (0: from the oldest one) and before release `before` (0: up to the newest one).
    `source` is the repository, the file and the function, in the branch of each release in `read`.
    """

    text: str
    source: str
    read: tuple[int, ...]
    since: int = 0
    before: int = 0

    def holds(self, release: int) -> bool:
        """Whether the statement holds for a release."""
        return self.since <= release and (not self.before or release < self.before)
