"""The proof that tenants are apart, for the verbs that judge files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.api.judgement import Judging, Progress
from fabricgen.codes import chosen
from fabricgen.errors import UsageError
from fabricgen.results import IsolationResult
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.api.resident import KeptVerdicts

CODES = ("FG647", "FG648", "FG649")


def prove_isolation(
    judging: Judging,
    select: Sequence[str],
    ignore: Sequence[str],
    progress: Progress,
    kept: "KeptVerdicts | None" = None,
) -> tuple[IsolationResult, ...]:
    """The verdicts on planes with tenants, whose findings are added to `judging`. Nothing is judged if no code of the
    proof is selected."""
    codes = [*filter(chosen(select, ignore), CODES)]
    wiring = judging.bundle.wiring
    separates = wiring is not None and (wiring.tenants or any(plane.isolation for plane in wiring.planes))
    if not codes or wiring is None or not (separates or judging.bundle.subnet_roots):
        return ()

    def proved(judging: Judging) -> Sequence[IsolationResult]:
        from fabricgen.isolation import isolation
        from fabricgen.isolation.findings import isolation_findings

        results = isolation(judging.bundle)
        judging.findings += [one for one in isolation_findings(judging.bundle, results) if one.code in codes]
        judging.codes |= {*codes} if results else set()
        return results

    results = tuple(kept.isolation(judging, codes, proved) if kept else proved(judging))
    pairs = sum(result.apart + result.together for result in results)
    if not results:
        return ()
    progress.step("proved", f"which of {counted(pairs, 'pair')} of host addresses reach each other")
    return results


def write_certificate(paths: Sequence[Path], file: Path) -> None:
    """Write the certificate of the proof on a bundle. Raises UnreadableInputError, and UsageError without tenants."""
    import orjson

    from fabricgen.atomic import write_atomically
    from fabricgen.bundle.read import open_bundle
    from fabricgen.isolation.certificate import certificate

    content = certificate(open_bundle(paths))
    if not content["planes"]:
        raise UsageError("--certificate: fabric.json has no tenants, so nothing is proved about them")
    write_atomically(file, orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")
