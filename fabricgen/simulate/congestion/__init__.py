"""Congestion by arithmetic: loads, fair rates, and the effects of PFC on them. Imported lazily: it loads numpy."""
