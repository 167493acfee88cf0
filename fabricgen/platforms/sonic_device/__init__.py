"""A folder of sonic-buildimage's device/ to a catalog entry."""
