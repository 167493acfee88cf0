"""Writes that are complete or absent: a single file, a folder, and temporary folders that do not stay.

Whatever is unfinished has a separate name, a lock while its process lives, and an owner. A run removes its
temporary files at every end but SIGKILL; the next run removes those that are left.
"""

from fabricgen.atomic.file import Private, write_atomically
from fabricgen.atomic.staging import temporary_folder

__all__ = ["Private", "temporary_folder", "write_atomically"]
