"""Links of a built site: each leads to a file of the site, and its anchor to an element of that page."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src", "object": "data"}


_ABSOLUTE = "404.html"  # served at any path, so its links are absolute


class _Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name in ("id", "name"):
            if value := given.get(name):
                self.anchors.add(value)
        if value := given.get(_LINKS.get(tag, "")):
            self.links.append(value)


def dead_links(site: Path, base: str) -> list[str]:
    """'page: link' for each link within the site that has no target, sorted. Links to other hosts are not followed.

    `base` is the path of the site on its host, with which absolute links begin, for example /fabricgen/.
    """
    pages = {file: _read(file) for file in sorted(site.rglob("*.html"))}
    return [
        f"{file.relative_to(site)}: {link}"
        for file, page in pages.items()
        for link in dict.fromkeys(page.links)
        if not _has_target(link.removeprefix(base) if file.name == _ABSOLUTE else link, file, site, pages)
    ]


def _read(file: Path) -> _Page:
    page = _Page()
    page.feed(file.read_text("utf-8"))
    return page


def _has_target(link: str, file: Path, site: Path, pages: dict[Path, _Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    path = unquote(parts.path)
    target = (file.parent / path).resolve() if path else file
    target = target / "index.html" if target.is_dir() else target
    if not target.is_file() or not target.is_relative_to(site.resolve()):
        return False
    anchor = unquote(parts.fragment)
    return not anchor or target not in pages or anchor in pages[target].anchors
