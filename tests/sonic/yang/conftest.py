"""libyang with a small set of test models."""

from pathlib import Path

import pytest

from fabricgen.sonic.yang import Models, load_models
from tests.components import package

MODELS = Path(__file__).parent / "models"


@pytest.fixture(scope="session")
def models() -> Models:
    """The models of this folder."""
    package("libyang", "yang")
    return load_models(MODELS)
