"""The base of all exceptions. A mistake in a person's file is a `Finding`; an exception means that no verdict exists.

FabricgenError
├── UnreadableInputError  a file is missing, or is not YAML or JSON: exit code 2
├── UsageError            the request is not possible, for example an unknown device in --only: exit code 2
└── KilledError           the operating system killed a process that did a part of the work: exit code 2
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricgen.findings import Location  # --help and completion need no findings


class FabricgenError(Exception):
    """Base of every exception that fabricgen defines."""


class UsageError(FabricgenError):
    """A request that is not possible. The text says what to do instead."""


class KilledError(FabricgenError):
    """The operating system has killed a process that did a part of the work."""

    def __init__(self) -> None:
        super().__init__(
            "a process of fabricgen was killed, most often because the memory of the machine or of the container is "
            "full: give it more memory, or use --jobs 1"
        )


class UnreadableInputError(FabricgenError):
    """A file that cannot be read or parsed."""

    def __init__(self, problem: str, location: "Location") -> None:
        super().__init__(f"{location}: {problem}")
        self.problem = problem
        self.location = location

    def __reduce__(self) -> "tuple[type[UnreadableInputError], tuple[str, Location]]":
        return type(self), (self.problem, self.location)
