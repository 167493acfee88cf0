"""Facts about switches, ASICs, NICs and hosts, as data with sources."""
