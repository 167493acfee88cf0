"""A small fabric for runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fabricgen.acceptance import judge
from fabricgen.acceptance.planned import PlannedTest
from fabricgen.bundle.read import Bundle, open_bundle
from tests.inventories import rail_optimized, write


@pytest.fixture(scope="package")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two units of four hosts with eight rails."""
    from fabricgen.api import render

    folder = tmp_path_factory.mktemp("fabric")
    render(write(folder / "in", rail_optimized()), folder / "bundle")
    return folder / "bundle"


@pytest.fixture(scope="package")
def opened(fabric: Path) -> Bundle:
    return open_bundle([fabric])


@pytest.fixture(scope="package")
def predicted(opened: Bundle) -> Callable[[PlannedTest], float]:
    """What hash collisions leave of a test on the fabric, as `judge` predicts it."""
    return judge.predictor(opened)


@pytest.fixture(autouse=True)
def one_prediction(fabric: Path, predicted: Callable[[PlannedTest], float], monkeypatch: pytest.MonkeyPatch) -> None:
    """All runs on the fabric share one prediction: it simulates congestion, and the files are the same."""
    predictor = judge.predictor

    def of_bundle(bundle: Bundle) -> Callable[[PlannedTest], float]:
        return predicted if bundle.root == fabric else predictor(bundle)

    monkeypatch.setattr(judge, "predictor", of_bundle)
