"""What earlier runs found, by digests of all that they read. The folder can be deleted at any time.

A result is stored with the names of what its judge read, and found again where all of that has the same digests, the
same fabricgen is installed and the same options are given. A judge whose readings cannot be recorded is not stored.
Entries are JSON with a checksum. What is damaged, of another version or of another user is a miss, never an error.
"""

from fabricgen.cache.store import Store, open_store

__all__ = ["Store", "open_store"]
