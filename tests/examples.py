"""How many random examples a property test tries: a third of them in `make test`. `make test-all` and `pytest FILE`
try all."""

from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings

# The time of an example depends on the load of the machine; benchmarks/ measure speed.
settings.register_profile("all", deadline=None)
settings.register_profile("third", deadline=None, max_examples=33)
settings.load_profile("all")


def pytest_configure(config: pytest.Config) -> None:
    """Settings hold for the modules that are imported after this."""
    if config.option.markexpr == "not whole":
        settings.load_profile("third")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """The costly part tries all examples."""
    if config.option.markexpr == "whole":
        for item in items:
            if is_hypothesis_test(item.obj):
                item.add_marker(pytest.mark.whole)


def examples(number: int) -> int:
    """`number`, or a third of it in `make test`."""
    return max(1, number * settings().max_examples // 100)
