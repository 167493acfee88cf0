"""The next hops of every switch, computed from rendered files only."""
