"""Fabric and addresses to BGP sessions and announcements."""
