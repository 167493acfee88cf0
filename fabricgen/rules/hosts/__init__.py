"""Rules on the files of hosts."""
