"""A folder of pictures with an index page that shows them."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from fabricgen.atomic.folder import write_files
from fabricgen.report.house_style import FAINT, FONT, INK, PAPER
from fabricgen.sonic.canonical import natural_key

INDEX = "index.html"
_TITLE = re.compile("<title>(.*?)</title>", re.DOTALL)
_POLICY = "default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'"


def write_pictures(folder: Path, files: Mapping[str, bytes], without: Iterable[str] = ()) -> None:
    """Write files, and the index of all pictures in the folder. `without` are pictures of an earlier run that this run
    does not have. Nothing is written without files. Raises OSError."""
    for name in without:
        (folder / name).unlink(missing_ok=True)
    if not files:
        return
    write_files(folder, files)
    names = sorted((file.name for file in folder.glob("*.svg")), key=natural_key)
    if names:
        write_files(folder, {INDEX: _index({name: (folder / name).read_text("utf-8") for name in names}).encode()})


def _index(pictures: Mapping[str, str]) -> str:
    figures = []
    for name, picture in pictures.items():
        found = _TITLE.search(picture)
        title = found[1] if found else name  # escaped in the picture
        figures.append(
            f'<figure><figcaption><a href="{name}">{title}</a></figcaption><img src="{name}" alt="{title}"></figure>'
        )
    style = (
        f"body {{ margin: 24px auto; max-width: 1280px; padding: 0 16px; background: {PAPER}; color: {INK}; "
        f"font: 14px/1.5 {FONT}; }} h1 {{ font-size: 20px; }} figure {{ margin: 0 0 32px; }} "
        f"figcaption {{ margin-bottom: 6px; }} a {{ color: {INK}; }} img {{ max-width: 100%; }} p {{ color: {FAINT}; }}"
    )
    count = f"{len(figures)} picture{'' if len(figures) == 1 else 's'}"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>Pictures of fabricgen</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n<h1>{count}</h1>\n"
        + "\n".join(figures)
        + "\n</main>\n</body>\n</html>\n"
    )
