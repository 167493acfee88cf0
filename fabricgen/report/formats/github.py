"""Workflow commands of GitHub Actions: annotations on the lines of a pull request."""

from fabricgen.findings import Finding, Severity
from fabricgen.report.causes import causes_first
from fabricgen.report.formats import Format
from fabricgen.report.phrases import from_here, sentence
from fabricgen.report.run import Run

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def github_report(run: Run) -> str:
    """A command for each finding, causes first: GitHub shows ten of each kind and step."""
    return "".join(f"{_command(one)}\n" for one in causes_first(run.findings))


def _command(one: Finding) -> str:
    properties: dict[str, object] = {}
    if one.location:
        properties["file"] = from_here(one.location.file)
        properties |= {"line": one.location.line} if one.location.line else {}
        properties |= {"col": one.location.column} if one.location.line and one.location.column else {}
    properties["title"] = " ".join(filter(None, (one.code, one.device, one.path)))
    text = ",".join(f"{name}={escaped_property(str(value))}" for name, value in properties.items())
    return f"::{_COMMAND[one.severity]} {text}::{escaped(sentence(one))}"


def escaped(text: str) -> str:
    """A message on one line, with its percent signs escaped."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    """The value of a property, with its colons and commas escaped."""
    return escaped(text).replace(":", "%3A").replace(",", "%2C")


FORMAT = Format("github", "annotations of GitHub Actions", github_report, annotates_files=True, commands=True)
