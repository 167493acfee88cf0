"""libyang with a small set of test models. Without libyang these tests are skipped; in CI that is a failure."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from fabricgen.sonic.yang import Models, load_models

MODELS = Path(__file__).parent / "models"


@pytest.fixture(scope="session")
def models() -> Models:
    """The models of this folder."""
    if find_spec("libyang") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("libyang is missing: scripts/setup '[dev]' installs it")
        pytest.skip("libyang is missing (docs/yang.md)")
    return load_models(MODELS)
