"""Rules on BGP, static routes and ECMP hashing."""
