"""Slugs, as NetBox makes them of names."""

import re


def slug(name: str) -> str:
    """Lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:100] or "unnamed"
