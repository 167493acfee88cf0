"""Outages: what each failure of links and switches costs a pattern after BGP has converged."""
