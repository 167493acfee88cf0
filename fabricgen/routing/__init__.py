"""Who forwards where, worked out from rendered files alone."""
