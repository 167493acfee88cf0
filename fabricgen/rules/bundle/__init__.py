"""Rules on the bundle as a whole and on the identity of devices."""
