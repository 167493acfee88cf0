"""The documentation as a site in build/site, with a reference that is generated from the schema and the command line.

python docs/make_site.py

Zensical builds it (the extra [docs]). Links to files that are not pages lead to the repository. A link to a
page, a file or a heading that does not exist is an error.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))

from docs.site_links import dead_links  # noqa: E402
from docs.site_reference import commands_page, keys_page  # noqa: E402
from fabricgen import __version__  # noqa: E402
from fabricgen.codes import FAMILIES  # noqa: E402

HOST, BASE = "https://fabricgen.github.io", "/fabricgen/"
PROJECT = "https://github.com/fabricgen/fabricgen"
REPOSITORY = f"{PROJECT}/blob/main"
PAGE_SUFFIXES = (".md", ".png", ".svg")
_AT_TOP = {ROOT / "README.md": "index.md", ROOT / "CHANGELOG.md": "changelog.md"}
# The theme marks a block while it copies it: the copy of a console is its commands, without prompts and output.
STYLE = """\
.language-console [data-md-copying] :is(.gp, .go, span[id^="__span"]:not(:has(.gp))) { display: none; }
[data-md-color-scheme="default"] .md-nav .md-nav__item .md-nav__link--active { color: #2348b8; }
[data-md-color-scheme="slate"] .md-nav .md-nav__item .md-nav__link--active { color: #9db4ff; }
"""
# The theme wraps the buttons of each block in a navigation, and those of one page need different names.
SCRIPT = """\
new MutationObserver(() => {
  document.querySelectorAll(".md-code__nav").forEach((block, number) => {
    if (!block.hasAttribute("aria-label")) block.setAttribute("aria-label", `Code block ${number + 1}`);
  });
}).observe(document.documentElement, { childList: true, subtree: true });
"""
# [text](target), and definitions of references: [name]: target
_LINK = re.compile(r"(\]\(|^\[[^\]\n]+\]: )([^)#\s]+)((?:#[^)\n]*)?(?:\)|$))", re.MULTILINE)

# title -> page or section; pages that are not listed are reached by links
NAVIGATION: dict[str, object] = {
    "Home": "index.md",
    "Start": {
        "Installation": "installation.md",
        "Tour": "tour.md",
        "Tutorial": "tutorial.md",
        "Start from an existing fabric": "howto/start-from-existing.md",
        "Coming from AVD, netlab or Apstra": "coming-from.md",
        "FAQ": "faq.md",
    },
    "How-to": {
        "Add a switch model": "howto/switch-model.md",
        "Change ECN thresholds": "howto/ecn-thresholds.md",
        "Choose priorities": "howto/priorities.md",
        "Keep ports spare": "howto/spare-ports.md",
        "Run one port at another speed": "howto/port-speed.md",
        "Keep ASNs": "howto/static-asns.md",
        "Use NICs of two vendors": "howto/two-nic-vendors.md",
        "Replace a switch": "howto/replace-switch.md",
        "Keep existing addresses": "howto/existing-addresses.md",
        "Set cable lengths per site": "howto/cable-lengths.md",
        "Take a bad cable out of service": "howto/bad-cable.md",
        "Install without internet": "howto/air-gapped.md",
        "Use an editor": "editors.md",
        "Check in CI": "gitops.md",
        "Take over an existing fabric": "brownfield.md",
        "Push with Ansible": "ansible.md",
        "Accept a new fabric": "acceptance.md",
        "Write files for other tools": "handoff.md",
        "Use NetBox or Nautobot": "netbox.md",
    },
    "Reference": {
        "Verbs": "verbs.md",
        "Commands": "reference/commands.md",
        "Settings": "settings.md",
        "Inventory keys": "reference/inventory-keys.md",
        "Inventory": "inventory.md",
        "Designs": "designs.md",
        "External routers": "outside.md",
        "Platforms": "platforms.md",
        "Catalog": "catalog.md",
        "Bundle": "bundle.md",
        "Hosts": "hosts.md",
        "InfiniBand": "infiniband.md",
        "Reports": "reports.md",
        "Comparisons": "compare.md",
        "Tuning": "tune.md",
        "Differences": "diff.md",
        "Templates": "templates.md",
        "Python API": "api.md",
        "YANG": "yang.md",
        "Limits": "limits.md",
        "Earlier results": "cache.md",
        "Upgrades and compatibility": "upgrades.md",
        "Glossary": "glossary.md",
    },
    "Findings": {"All codes": "findings.md"},  # and a section for each family of codes
    "Explanation": {
        "How lossless works": "how-lossless-works.md",
        "QoS": "qos.md",
        "Tenants": "tenants.md",
        "VLANs, bonds and DHCP": "access.md",
        "Management": "management.md",
        "What the image adds": "image.md",
        "Deadlock": "simulate-deadlock.md",
        "Certificates": "certificate.md",
        "Congestion": "simulate-congestion.md",
        "Several jobs": "jobs.md",
        "Packets": "simulate-packets.md",
        "Packet model": "packet-model.md",
        "SRv6 uSIDs": "srv6.md",
        "InfiniBand": "simulate-infiniband.md",
        "Pitfalls": "pitfalls.md",
        "Pitfalls of InfiniBand": "pitfalls-infiniband.md",
        "Architecture": "architecture.md",
        "Extending": "extending.md",
        "Decisions": "adr/README.md",
    },
    "Trust": {"What was verified": "trust.md", "Seeded faults": "mutants.md", "Speed": "speed.md"},
    "Changelog": "changelog.md",
}


def write_source(folder: Path) -> None:
    """Write the pages of the site and zensical.toml into a new folder."""
    for file in sorted(DOCS.rglob("*")):
        if file.suffix in PAGE_SUFFIXES and "__pycache__" not in file.parts:
            _copy(file, folder / "docs" / file.relative_to(DOCS))
    _write(folder / "docs" / "index.md", _with_links((ROOT / "README.md").read_text("utf-8"), ROOT, DOCS))
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    _write(folder / "docs" / "changelog.md", _with_links(changelog, ROOT, DOCS))
    _write(folder / "docs" / "site.css", STYLE)
    _write(folder / "docs" / "site.js", SCRIPT)
    _write(folder / "docs" / "reference" / "commands.md", commands_page())
    _write(folder / "docs" / "reference" / "inventory-keys.md", keys_page())
    settings = [
        "[project]",
        'site_name = "fabricgen"',
        'site_description = "SONiC and InfiniBand configuration for GPU clusters, proved lossless before the merge"',
        f'site_url = "{HOST}{BASE}"',
        'docs_dir = "docs"',
        'site_dir = "site"',
        # `repo_url` would load figures from another host; the footer of each page has both.
        f"copyright = 'fabricgen {__version__} · <a href=\"{PROJECT}\">Repository</a>'",
        'extra_css = ["site.css"]',
        'extra_javascript = ["site.js"]',
        f"nav = {_toml(navigation())}",
        "[project.markdown_extensions]",
        "attr_list = {}",
        "tables = {}",
        "toc.permalink = true",
        "pymdownx.superfences = {}",
        # Lines are spans, so that a part of a block can be left out of its copy, but not empty links.
        'pymdownx.highlight = { anchor_linenums = false, line_spans = "__span", pygments_lang_class = true }',
        "[project.theme]",
        "font = false",  # no page loads anything from another host
        'features = ["navigation.sections", "navigation.prune", "content.code.copy", "toc.follow"]',
        *_palette("(prefers-color-scheme: light)", "default", "moon", "Use dark colors"),
        *_palette("(prefers-color-scheme: dark)", "slate", "sun", "Use light colors"),
    ]
    _write(folder / "zensical.toml", "\n".join(settings) + "\n")


def navigation() -> dict[str, object]:
    """All of it: with a section for each family of codes, and the pages of howto/ that are not listed."""
    whole = {title: dict(value) if isinstance(value, dict) else value for title, value in NAVIGATION.items()}
    listed, others, findings = {*pages_of(NAVIGATION)}, whole["How-to"], whole["Findings"]
    assert isinstance(others, dict) and isinstance(findings, dict)
    for file in sorted((DOCS / "howto").glob("*.md")):
        if (page := str(file.relative_to(DOCS))) not in listed:
            others[file.read_text("utf-8").partition("\n")[0].removeprefix("# ")] = page
    for family, title in FAMILIES.items():
        codes = sorted(file.stem for file in (DOCS / "rules").glob(f"{family}*.md"))
        findings[f"{family}xx: {title}"] = {code: f"rules/{code}.md" for code in codes}
    return whole


def _palette(media: str, scheme: str, icon: str, name: str) -> Iterator[str]:
    """One of the two color schemes, that of the system at first, with the button for the other one."""
    yield from ("[[project.theme.palette]]", f'media = "{media}"', f'scheme = "{scheme}"')
    yield from (f'toggle.icon = "lucide/{icon}"', f'toggle.name = "{name}"')


def build(folder: Path) -> Path:
    """The site in a new folder. Raises CalledProcessError for a warning of Zensical."""
    write_source(folder)
    program = Path(sys.executable).with_name("zensical")
    subprocess.run([program, "build", "--strict"], cwd=folder, check=True, stdout=sys.stderr)
    return folder / "site"


def _copy(file: Path, target: Path) -> None:
    if file.suffix == ".md":
        _write(target, _with_links(file.read_text("utf-8"), file.parent, file.parent))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)


def _with_links(text: str, base: Path, page_folder: Path) -> str:
    """The text of a page: links to pages relative to `page_folder`, all other files in the repository."""

    def replaced(found: re.Match[str]) -> str:
        target = found[2]
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        file = Path(os.path.normpath(base / target))
        if file in _AT_TOP:
            relative = os.path.relpath(DOCS / _AT_TOP[file], page_folder)
        elif file.is_relative_to(DOCS) and file.suffix in PAGE_SUFFIXES:
            relative = os.path.relpath(file, page_folder)
        else:
            relative = f"{REPOSITORY}/{file.relative_to(ROOT).as_posix()}"
        return f"{found[1]}{relative}{found[3]}"

    return _LINK.sub(replaced, text)


def pages_of(section: dict[str, object]) -> Iterator[str]:
    """The pages of a navigation."""
    for value in section.values():
        if isinstance(value, dict):
            yield from pages_of(value)
        else:
            yield str(value)


def _toml(section: dict[str, object]) -> str:
    items = (
        f'{{"{title}" = {_toml(value) if isinstance(value, dict) else chr(34) + str(value) + chr(34)}}}'
        for title, value in section.items()
    )
    return f"[{', '.join(items)}]"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def main() -> int:
    """Build the site, and print the dead links. The exit code is 1 if there are any."""
    folder = ROOT / "build" / "site"
    shutil.rmtree(folder, ignore_errors=True)
    site = build(folder)
    dead = dead_links(site, BASE)
    print("\n".join(dead) if dead else f"{site}: {sum(1 for _ in site.rglob('*.html'))} pages, every link has a target")  # noqa: T201
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
