"""The exceptions that cross rooms. A mistake in a person's file is a `Finding`; these are for what stops a verdict.

FabricgenError
└── UnreadableInputError     a file is missing, or is no YAML or JSON at all: exit code 2
└── UsageError          the request itself makes no sense (an unknown device in --only, a bundle of another
                        inventory): exit code 2
"""

from fabricgen.findings import Location


class FabricgenError(Exception):
    """Base of every error that fabricgen raises on purpose."""


class UsageError(FabricgenError):
    """What was asked for cannot be done; the text says what to do instead."""


class UnreadableInputError(FabricgenError):
    """A file that cannot be read or parsed, so that no verdict is possible."""

    def __init__(self, problem: str, location: Location) -> None:
        super().__init__(f"{location}: {problem}")
        self.problem = problem
        self.location = location
