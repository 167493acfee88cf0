"""The proof that tenants are apart: for each ordered pair of host addresses, whether packets pass, from the files.

Addresses that all VRFs and ACLs treat in the same way form a class, so the work depends on the number of classes.
"""

from fabricgen.isolation.verdict import isolation

__all__ = ["isolation"]
