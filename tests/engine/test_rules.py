"""Rules find the same of a bundle that an engine records as of the bundle itself. Each use of a value is recorded."""

import ast
import importlib
import inspect
import pkgutil
import typing
from collections.abc import Iterator
from dataclasses import replace
from functools import _lru_cache_wrapper, cached_property
from pathlib import Path
from types import ModuleType

import pytest

import fabricgen.routing
import fabricgen.rules
from fabricgen.bundle.device import ObservedDevice
from fabricgen.bundle.inputs import InputBundle, is_one_rendering
from fabricgen.bundle.read import Bundle
from fabricgen.engine.derived import Engine, derived
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.kept import KeptRules, have_plain_rows
from fabricgen.rules.registry import all_rules
from fabricgen.rules.rule import Basis, Rule, subject_of
from fabricgen.rules.run import run
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from tests.rules.case import Case, Switches
from tests.rules.clean import clean_fabric
from tests.rules.test_cases import CASES

ONE_IN = 24  # cases of switches; benchmarks/incremental.py compares all


def of_switches() -> list[Case]:
    """The cases that change tables of switches."""
    return [case for case in CASES if isinstance(case.clean, Switches)]


def is_recorded(bundle: Bundle) -> bool:
    return is_one_rendering(bundle) and have_plain_rows(bundle.devices.values())


@pytest.mark.parametrize("case", of_switches()[::ONE_IN], ids=lambda case: case.code)
def test_a_recorded_fabric_gives_the_same_findings(case: Case, tmp_path: Path) -> None:
    assert isinstance(case.clean, Switches)
    bundle, lookup = case.clean.broken(case.change, tmp_path), case.clean.layout
    if is_recorded(bundle):
        kept = KeptRules(InputBundle(bundle, Engine()), lookup or Fabric(bundle)._lookup)
        expected = run(bundle, layout_lookup=lookup)
        for _ in range(2):
            assert run(bundle, layout_lookup=lookup, prepare=kept.prepare) == expected


@pytest.mark.parametrize("case", of_switches()[7 :: 3 * ONE_IN], ids=lambda case: case.code)
def test_a_rule_reads_the_same_after_other_rules(case: Case, tmp_path: Path) -> None:
    """What other rules have derived before is recorded for each rule that uses it."""
    assert isinstance(case.clean, Switches)
    bundle = case.clean.broken(case.change, tmp_path)
    if not is_recorded(bundle):
        return
    rules = [rule for rule in all_rules() if subject_of(rule)]
    shared = Engine()
    fabric = Fabric(InputBundle(bundle, shared).seen, case.clean.layout, has_plain_rows=True)
    for rule in rules:
        shared.value(lambda rule=rule: list(rule.check(fabric)), rule.code)  # type: ignore[misc]
    for rule in rules:
        alone = Engine()
        own = Fabric(InputBundle(bundle, alone).seen, case.clean.layout, has_plain_rows=True)
        alone.value(lambda rule=rule, own=own: list(rule.check(own)), rule.code)  # type: ignore[misc]
        assert shared.inputs_of(rule.code) == alone.inputs_of(rule.code), rule.code


class _Seen(Switch):
    """A switch with a property as a rule's author adds it beside the others."""

    @derived
    def time_zone(self) -> str:
        return self.device.text_of("DEVICE_METADATA", "localhost", "timezone")


def _own_rule(code: str, seen: list[str]) -> Rule:
    def check(fabric: Fabric) -> Iterator[Defect]:
        for switch in fabric.switches.values():
            found = _Seen.time_zone.__get__(switch, _Seen)
            seen.append(found)
            if found:
                yield Defect(switch.place("DEVICE_METADATA", "localhost", "timezone"), f"{code}: {found}")

    check.__module__ = "fabricgen.rules.qos.own"
    return Rule(code, Severity.ERROR, "A time zone", check, Basis.MEANING)


def _with_zone(bundle: Bundle, name: str) -> Bundle:
    """The bundle after an edit of the time zone of a switch."""
    device = bundle.devices[name]
    config = {**device.config, "DEVICE_METADATA": {"localhost": {**device.metadata, "timezone": "UTC"}}}
    return replace(bundle, devices={**bundle.devices, name: device.with_config(config, b"{}")})


def test_a_shared_value_is_recorded_for_each_rule_that_uses_it() -> None:
    """Each of two rules finds what an edit makes wrong, although only the first of them derives the value."""
    bundle = clean_fabric().bundle()
    assert is_recorded(replace(bundle, root=Path("here")))
    inputs = InputBundle(replace(bundle, root=Path("here")), Engine())
    kept, seen = KeptRules(inputs, lambda _: None), list[str]()
    rules = [_own_rule("XY1", seen), _own_rule("XY2", seen)]
    for rule in (*rules, *rules):
        assert list(kept.prepare(lambda: Fabric(bundle), rules)(rule)) == []
    before = len(seen)
    assert before == 2 * len(bundle.devices)
    name = next(iter(bundle.devices))
    assert inputs.become(replace(_with_zone(bundle, name), root=Path("here")), ())
    for rule in rules:
        (defect,) = kept.prepare(lambda: Fabric(bundle), rules)(rule)
        assert defect.place.device.name == name and defect.message == f"{rule.code}: UTC"


def test_an_input_cannot_be_read_past_the_engine() -> None:
    """Neither by a judge that the engine does not run, nor by a cache that it does not know."""
    inputs = InputBundle(replace(clean_fabric().bundle(), root=Path("here")), Engine())
    device = next(iter(inputs.devices.values()))
    switch = Fabric(inputs.seen, has_plain_rows=True).switches[device.name]
    for read in (
        lambda: device.config["PORT"],
        lambda: "PORT" in device.config,
        lambda: [*device.config],
        lambda: device.text,
        lambda: device.signs.secrets,
        lambda: inputs.seen.links,
        lambda: inputs.seen.wiring and inputs.seen.wiring.hosts,
        lambda: switch.hwsku,
    ):
        with pytest.raises(RuntimeError, match="the engine derives no value"):
            read()
    assert isinstance(device, ObservedDevice)
    with pytest.raises(TypeError, match="unhashable"):
        hash(device.config)


JUDGES = [
    importlib.import_module(module.name)
    for package in (fabricgen.rules, fabricgen.routing)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]
_PLAIN = (str, int, float, bool, bytes, type(None))


def _is_plain(kind: object) -> bool:
    """Whether values of a type can contain no input: texts, numbers, and collections of these that do not change."""
    inner = [one for one in typing.get_args(kind) if one is not ...]
    return kind in _PLAIN if not inner else all(map(_is_plain, inner))


@pytest.mark.parametrize("module", JUDGES, ids=lambda module: module.__name__.removeprefix("fabricgen."))
def test_no_value_is_kept_past_the_engine(module: ModuleType) -> None:
    """Caches of functools are only for functions of texts and numbers: what reads an input is `derived` or `kept`."""
    source = ast.parse(inspect.getsource(module))
    names = [one.id for one in ast.walk(source) if isinstance(one, ast.Name)]
    names += [one.attr for one in ast.walk(source) if isinstance(one, ast.Attribute)]
    assert cached_property.__name__ not in names
    wrappers = [one for one in vars(module).values() if isinstance(one, _lru_cache_wrapper)]
    assert names.count("cache") + names.count("lru_cache") <= len(wrappers), "a cache of no function of the module"
    for one in wrappers:
        hints = typing.get_type_hints(one.__wrapped__)
        kinds = {name: kind for name, kind in hints.items() if name != "return"}
        assert all(map(_is_plain, kinds.values())), f"{one.__wrapped__.__qualname__} keeps values of {kinds}"
