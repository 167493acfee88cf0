"""Identity to name, address and ASN; the lock file that keeps them."""
