"""JUnit XML, for Jenkins, GitLab and other test reports: a test case for each rule that ran."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from fabricgen.findings import Finding
from fabricgen.report.formats import Format
from fabricgen.report.pages import page
from fabricgen.report.phrases import place_from_here, places
from fabricgen.report.run import Run

# Characters that XML 1.0 does not allow, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_report(run: Run) -> str:
    """One suite. A code fails if one of its findings fails the run; its other findings are in the output of the test.

    A code is a skipped test if all its findings are suppressed.
    """
    found: dict[str, list[Finding]] = {code: [] for code in run.all_codes}
    for one in run.findings:
        found[one.code].append(one)
    accepted = {code: [one for one in run.suppressed if one.code == code] for code in found}
    failing = {code: [one for one in members if run.fails(one)] for code, members in found.items()}
    skipped = [code for code in found if accepted[code] and not found[code]]
    attributes = {
        "name": f"fabricgen {run.verb}",
        "tests": str(len(found)),
        "failures": str(sum(bool(members) for members in failing.values())),
        "errors": "0",
        "skipped": str(len(skipped)),
        "time": "0",
    }
    root = ElementTree.Element("testsuites", {key: attributes[key] for key in ("name", "tests", "failures", "errors")})
    suite = ElementTree.SubElement(root, "testsuite", attributes)
    for code, members in found.items():
        names = {"classname": f"fabricgen.{run.verb}", "name": _clean(f"{code} {page(code).title}"), "time": "0"}
        case = ElementTree.SubElement(suite, "testcase", names)
        _fill(case, failing[code], [one for one in members if not run.fails(one)], accepted[code])
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _fill(
    case: ElementTree.Element, failing: Sequence[Finding], rest: Sequence[Finding], accepted: Sequence[Finding]
) -> None:
    if failing:
        first, more = failing[0], len(failing) - 1
        message = first.message + (f" (and {more} more)" if more else "")
        attributes = {"type": first.severity.value, "message": _clean(message)}
        ElementTree.SubElement(case, "failure", attributes).text = _clean("\n\n".join(map(_text, failing)))
    elif accepted and not rest:
        reasons = dict.fromkeys(one.suppression.reason for one in accepted if one.suppression)
        ElementTree.SubElement(case, "skipped", {"message": _clean("suppressed: " + "; ".join(reasons))})
    if rest:
        ElementTree.SubElement(case, "system-out").text = _clean("\n\n".join(map(_text, rest)))


def _text(one: Finding) -> str:
    lines = [" ".join(filter(None, (place_from_here(one.location), one.severity.value, one.message))) + places(one)]
    where = " ".join(filter(None, (one.device, one.path)))
    lines += [f"  in {where}"] if where else []
    lines += [f"  see {place_from_here(each.location)}: {each.message}" for each in one.related]
    lines += [f"  help: {one.hint}"] if one.hint else []
    return "\n".join(lines)


def _clean(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


FORMAT = Format("junit", "JUnit XML", junit_report, annotates_files=True)
