"""Rules on BGP, routes and hashing."""
