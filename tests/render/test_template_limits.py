"""Templates of users have limits of steps and size, with the line of the template that exceeds them."""

from pathlib import Path

import pytest

from fabricgen.render import sandbox
from tests.conftest import Cli
from tests.inventories import explicit, write

HUGE = "has more than 67108864 characters or items"
MOST_STEPS = 100_000  # the limit of users takes ten seconds
STEPS = f"the template takes more than {MOST_STEPS} steps"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{% for i in range(10**9) %}x{% endfor %}", "Range too big"),
        ("{{ 'x' * 10**10 }}", HUGE),
        ("{{ 'x' | center(10**10) }}", HUGE),
        ("{{ 'x'.ljust(10**10) }}", HUGE),
        ("{% set x = 'x' * 10**6 %}{{ x.replace('x', x) }}", HUGE),
        ("{% set x = 'x' * 10**6 %}{{ x.join(x) }}", HUGE),
        ("{{ '%9999999999d' % 1 }}", "a format has a width of more than 99999"),
        ("{{ '{:9999999999}'.format(1) }}", "a format has a width of more than 99999"),
        ("{{ 10 ** 10000000000 }}", "a power has more than 4000 digits"),
        ("{% set x = ['x' * 10**6] %}" + "{% for i in range(100) %}{{ x[0] }}{% endfor %}", HUGE),
        (
            "{% set ns = namespace(x='x' * 1000) %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
            HUGE,
        ),
        ("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", STEPS),
        ("{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}", STEPS),
        ("{# " + "x" * 2**20 + " #}", "the template has more than 1048576 bytes"),
    ],
    ids=lambda text: text[:40],
)
def test_a_limit_is_an_error_at_the_line_of_the_template(
    text: str, problem: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "MOST_STEPS", MOST_STEPS)
    overlay = tmp_path / "overlay" / "sonic"
    overlay.mkdir(parents=True)
    (overlay / "switch.json.j2").write_text(f"{{}}\n{text}\n")
    inventory = write(tmp_path / "inventory", explicit())
    outcome = cli("render", inventory, "-o", tmp_path / "b", "--templates", tmp_path / "overlay")
    line = 1 if "bytes" in problem else 2
    place = "switch.json.j2" if "x[0]" in text else f"switch.json.j2:{line}"  # the whole text is too long
    assert outcome.code == 1 and place in outcome.out and problem in outcome.out, outcome
    assert not (tmp_path / "b").exists()
