"""Which processes make the files of a bundle."""

from pathlib import Path
from typing import NoReturn

import pytest

from fabricgen.bundle.scratch import Written
from fabricgen.render import content
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans
from tests.inventories import explicit, write


def test_no_process_is_forked_beside_the_threads_of_a_dask_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = make_plans(write(tmp_path, explicit()))
    expected = dict(BundleContent(plans).files())

    written: dict[str, bytes] = {}

    def write_file(path: str, data: bytes) -> Written:
        written[path] = data
        return Written("", True)

    def forked(*_: object) -> NoReturn:
        raise AssertionError("a process is forked")

    for name in ("apart", "spread"):
        monkeypatch.setattr(content, name, forked)
    monkeypatch.setattr(content, "worthwhile", lambda jobs, _: jobs)
    beside = BundleContent(
        plans, jobs=2, write=write_file, elsewhere=lambda one: map(one.switch, one.plans.rendered.switches)
    )
    made = {path: data for path, data in beside.made() if isinstance(data, bytes)}
    assert made | written == expected
    with pytest.raises(AssertionError, match="a process is forked"):
        dict(BundleContent(plans, jobs=2).made())
