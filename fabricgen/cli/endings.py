"""The ending of an output file and the format that is written into it: a name such as x.json says what its readers
expect."""

from collections.abc import Collection, Mapping
from pathlib import Path

from fabricgen.errors import UsageError

# Ending -> the formats that have it; a --format that is not given becomes the first of them that the verb writes.
_FORMATS: Mapping[str, tuple[str, ...]] = {
    ".html": ("html",),
    ".htm": ("html",),
    ".json": ("json", "gitlab", "sarif"),
    ".sarif": ("sarif",),
    ".xml": ("junit",),
    ".md": ("markdown", "bmwg"),
    ".csv": ("csv",),
    ".yaml": ("yaml",),
    ".yml": ("yaml",),
    ".svg": ("svg",),
    ".drawio": ("drawio",),
    ".dot": ("dot",),
}
_FOREIGN = (".pdf", ".png", ".jpg", ".jpeg", ".gif", ".docx", ".xlsx", ".pptx", ".odt", ".ods", ".zip", ".gz", ".tar")
_OF_OPTIONS: Mapping[str, tuple[str, ...]] = {  # a work order is text if its name does not end with .csv
    "certificate": ("json",), "routes": ("json",), "evidence": ("json",), "headline": ("markdown",),
    "work_order": ("csv", "markdown"), "save_jobs": ("yaml",), "lock": ("yaml",),
}  # fmt: skip
_FOLDERS = ("jsonpatch", "plan")  # written into a folder


def format_for(file: Path, fmt: str, offered: Collection[str], *, is_chosen: bool) -> str:
    """The format to write into a file: `fmt` if a person has chosen it, otherwise the one of the ending of the file.
    Raises UsageError for an ending of another format."""
    if fmt in _FOLDERS:
        return fmt
    ending = file.suffix.lower()
    of_ending = [name for name in _FORMATS.get(ending, ()) if name in offered]
    if of_ending and not is_chosen:
        return of_ending[0]
    if fmt not in of_ending and (ending in _FORMATS or ending in _FOREIGN):
        wanted = [fmt] if is_chosen else offered
        remedy = f"choose --format {of_ending[0]}, or another ending" if of_ending else f"choose {_names(wanted)}"
        raise UsageError(f"{file}: the content would be {fmt}, and the ending is that of another format; {remedy}")
    return fmt


def refuse_ending(option: str, name: str, file: Path) -> None:
    """Raises UsageError if an output with one format has the ending of another one."""
    own = _OF_OPTIONS.get(name, ())
    ending = file.suffix.lower()
    if own and (ending in _FOREIGN or (ending in _FORMATS and not {*own}.intersection(_FORMATS[ending]))):
        raise UsageError(f"{option} {file}: the content would be {own[0]}: choose {_names(own)}")


def _names(formats: Collection[str]) -> str:
    own = [ending for ending, names in _FORMATS.items() if any(name in formats for name in names)]
    return f"a name that ends with {', '.join(own or ['.txt'])}"
