"""CPU time and memory of a report of a bundle: the verdicts, and the page beyond them, within one process.

    python -m benchmarks.report_stages BUNDLE

Prints CPU seconds and the peak of resident memory at the end of each stage, and the size of the page.
"""

import gc
import resource
import sys
from pathlib import Path
from time import process_time

from fabricgen import __version__
from fabricgen.api.judgement import DEFAULT_POLICY, SILENT, open_judging
from fabricgen.api.verdicts import Wanted, judge_all
from fabricgen.bundle.manifest import read_manifest
from fabricgen.page.html import html_page
from fabricgen.page.report import report_object
from fabricgen.page.verdict import JudgedResults
from fabricgen.report.formats.json import json_object
from fabricgen.simulate.deadlock.certificate import seals


def main() -> None:
    """Measure one bundle with the default pattern and number of failures, without a process pool."""
    gc.disable()  # as the command line does
    folder = Path(sys.argv[1])
    begun = process_time()
    judging = open_judging([folder], None, None, DEFAULT_POLICY)
    verdicts = judge_all(judging, Wanted(patterns=(), depth=None, jobs=1), SILENT)
    outcome = judging.outcome(None)
    judged_at, judged_mib = process_time(), _peak_mib()
    judged = JudgedResults(
        findings=outcome.findings,
        suppressed=outcome.suppressed,
        counts=judging.counts,
        is_complete=True,
        deadlock=verdicts.deadlock,
        congestion=verdicts.congestion,
        packets=[],
        digests=seals(verdicts.deadlock),
        not_judged=[],
    )
    content = report_object(judged, judging.bundle, read_manifest(folder), None, folder.name)
    collected = process_time()
    head = json_object(__version__, outcome.findings, judging.counts)
    page = html_page({**content, "tool": head["tool"], "summary": head["summary"]})
    written, written_mib = process_time(), _peak_mib()
    print(f"verdicts               {judged_at - begun:6.2f} s   peak {judged_mib:.0f} MiB")
    print(f"page: its object       {collected - judged_at:6.2f} s")
    print(f"page: its bytes        {written - collected:6.2f} s   {len(page.encode()) / 1e6:.2f} MB")
    print(f"page, beyond verdicts  {written - judged_at:6.2f} s   {written_mib - judged_mib:.0f} MiB more")


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
