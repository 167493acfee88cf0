"""A bundle to the tools that deploy it."""

from fabricgen.handoff.folder import write_folder

__all__ = ["write_folder"]
