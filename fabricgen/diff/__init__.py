"""What changed between two bundles."""
