"""What the routes of the planes cover, for verdicts that rest on them."""

from fabricgen.api.judgement import Judging, codes_of

CODE = "FG610"


def add_coverage(judging: Judging, plane: str | None, *, to_storage: bool) -> None:
    """Read the planes that carry the traffic, and add FG610 for those whose lossless links carry no route.

    Nothing is added if the deadlock verdict has judged the planes already. Raises UsageError for an unknown plane.
    """
    from fabricgen.routing.fabric import read_fabric
    from fabricgen.simulate.plane.coverage import coverage_findings, covers
    from fabricgen.simulate.plane.names import planes_for

    if CODE in judging.codes:
        return
    for _, switches in planes_for(judging.bundle, plane, to_storage=to_storage):
        fabric = read_fabric(judging.bundle, switches)
        judging.findings += coverage_findings(judging.bundle, fabric, covers(judging.bundle, fabric))
    judging.codes |= codes_of(CODE, "FG749")
