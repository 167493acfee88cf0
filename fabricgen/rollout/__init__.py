"""A change of many switches: the order in which they change, and the fabric at each step in between, judged."""
