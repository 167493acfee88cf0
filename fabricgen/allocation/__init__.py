"""Identity to name, address, ASN and GUID, and the lock file that keeps them."""
