"""Congestion by arithmetic: loads, fair rates, and what PFC makes of them. Imported lazily: it loads numpy."""
