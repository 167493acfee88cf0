"""Programs for maintainers: they make data of the package from public sources, and releases."""
