"""Ports share a form only where no template can distinguish them: whatever an overlay prints, it prints its own port's.

The overlays print every attribute of every context, and the fabric has ports that differ in one attribute.
"""

import dataclasses
import itertools
import types
import typing
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fabricgen.lossless.plan import LosslessPlan, PortBuffers
from fabricgen.origin import Origin, Value
from fabricgen.platforms.catalog import switch_platform
from fabricgen.platforms.entry_text import switch_entry_text
from fabricgen.render import build_contexts, contexts
from fabricgen.render.context import Context
from fabricgen.render.forms import Slot
from fabricgen.render.plans import Plans, make_plans
from fabricgen.render.switches import SwitchRenderer
from fabricgen.render.templates import TemplateLibrary
from tests.inventories import ARISTA, DUAL_STACK, explicit, write

CLASSES = [kind for kind in vars(contexts).values() if isinstance(kind, type) and issubclass(kind, Context)][1:]
OVERLAYS: Mapping[str, Mapping[str, type]] = {
    "switch.json.j2": {
        "switch": contexts.SwitchContext,
        "management": contexts.ManagementContext,
        "plane": contexts.PlaneContext,
        "plan": LosslessPlan,
        "sonic": contexts.SonicContext,
    },
    "port.json.j2": {"port": contexts.PortContext},
    "link.json.j2": {"port": contexts.PortContext, "link": contexts.LinkContext, "plan": LosslessPlan},
    "outside.json.j2": {"port": contexts.PortContext, "link": contexts.OutsideContext, "plan": LosslessPlan},
}


def printed(expression: str, kind: Any, names: Iterator[str]) -> str:
    """Jinja that prints the whole content of a typed expression."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        some = printed(expression, inner[0], names)
        return f"{{% if {expression} is not none %}}{some}{{% else %}}none{{% endif %}} "
    if origin is tuple:
        item = next(names)
        return f"{{% for {item} in {expression} %}}({printed(item, inner[0], names)}){{% endfor %}} "
    if origin is not None and issubclass(origin, Mapping):
        key, item = next(names), next(names)
        text = printed(item, inner[1], names)
        return f"{{% for {key}, {item} in {expression}.items() %}}{{{{ {key} }}}}=({text}){{% endfor %}} "
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        fields = dataclasses.fields(kind)
        return " ".join(
            f"{field.name}:{printed(f'{expression}.{field.name}', hints[field.name], names)}" for field in fields
        )
    return f"{{{{ {expression} }}}} "


def overlay(folder: Path) -> Path:
    """Templates that render only the content of their contexts."""
    folder.mkdir()
    for template, variables in OVERLAYS.items():
        names = (f"x{number}" for number in itertools.count())
        text = " ".join(printed(name, kind | None, names) for name, kind in variables.items())
        key = "localhost" if template == "switch.json.j2" else "{{ port.name }}"
        (folder / template).write_text(f'{{"SEEN": {{"{key}": {{"{template}": "{text}"}}}}}}')
    return folder


def mixed_fabric(folder: Path) -> Plans:
    """A leaf whose wired ports each differ from the first in one attribute."""
    model = switch_platform(ARISTA)
    assert model
    layout = model.layouts[0]
    changes = {"Ethernet8": {"fec": "fc"}, "Ethernet16": {"breakout_mode": "1x400G"}, "Ethernet24": {"fec": ""}}
    ports = tuple(dataclasses.replace(port, **changes.get(port.name, {})) for port in layout.ports)
    own = dataclasses.replace(model, name="mixed", layouts=(dataclasses.replace(layout, ports=ports),))
    cables: dict[int, dict[str, object]] = {
        4: {"length": "40m"},
        5: {"medium": "smf"},
        6: {"link_training": True},
        7: {"link_training": False},
    }
    links: list[dict[str, object]] = [
        {"ends": [f"gpu/0:rail{rail}", f"leaf1:Ethernet{8 * rail}"], "cable": {"length": "5m", **cables.get(rail, {})}}
        for rail in range(8)
    ]
    peers = [("leaf1:Ethernet256", "spine1:Ethernet0"), ("leaf1:Ethernet264", "leaf2:Ethernet0")]
    links += [{"ends": list(ends), "cable": {"length": "5m"}} for ends in peers]
    router = {
        "name": "wan1",
        "asn": 64900,
        "switch": "leaf1",
        "in": ["0.0.0.0/0"],
        "out": ["10.0.0.0/8"],
        "peer_port": "xe-0",
        "address": "192.0.2.1/31",
    }
    outside = [
        {**router, "port": "Ethernet320"},
        {**router, "port": "Ethernet328", "address": "192.0.2.3/31", "name": "wan2"},
    ]
    tree = explicit("mixed", bgp="unnumbered", links=links, external=outside, addressing=DUAL_STACK)
    tree["platforms"] = ["models/mixed.yaml"]
    (folder / "models").mkdir(parents=True)
    (folder / "models" / "mixed.yaml").write_text(switch_entry_text(own))
    plans = make_plans(write(folder, tree))
    assert not [finding for finding in plans.findings if finding.severity == "error"], plans.findings
    return plans


class Forgetful(dict[Any, Any]):
    """Keeps nothing, so that every context is made anew."""

    def __setitem__(self, *_: object) -> None:
        pass


def seen(plans: Plans, templates: Path, known: dict[Any, Any] | None = None) -> dict[str, Any]:
    """What the overlays print, switch by switch."""
    library = TemplateLibrary("sonic", templates)
    renderer = SwitchRenderer(plans.rendered, plans.allocation, plans.control, plans.planner, library)
    renderer._known = renderer._known if known is None else known
    found = {}
    for switch in plans.rendered.switches:
        rendered = renderer.render(switch)
        assert rendered
        found[rendered.name] = rendered.tables["SEEN"]
    return found


def test_a_port_never_prints_the_value_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compared with a library that expands every template anew for every port, from contexts made anew."""
    plans, templates = mixed_fabric(tmp_path / "inventory"), overlay(tmp_path / "templates")
    shared = seen(plans, templates)

    def anew(library: TemplateLibrary, template: str, context: Mapping[str, Hashable], device: str) -> int:
        library.forms.append(library._expand(template, context, device))
        return len(library.forms) - 1

    monkeypatch.setattr(TemplateLibrary, "form", anew)
    assert shared == seen(plans, templates, known=Forgetful())
    leaf = shared["leaf1"]
    texts = {
        port: str(row).replace(port, "")
        for port, row in ((f"Ethernet{8 * rail}", leaf[f"Ethernet{8 * rail}"]["port.json.j2"]) for rail in range(8))
    }
    assert "fec:rs" in texts["Ethernet0"] and "fec:fc" in texts["Ethernet8"] and "fec:none" in texts["Ethernet24"]
    assert "breakout_mode:1x400G" in texts["Ethernet16"] and "breakout_mode:1x400G" not in texts["Ethernet0"]
    assert "link_training:on" in texts["Ethernet48"] and "link_training:off" in texts["Ethernet56"]
    assert "cable:40m" in leaf["Ethernet32"]["link.json.j2"] and "cable:5m" in leaf["Ethernet0"]["link.json.j2"]
    assert "fec:fc" in leaf["Ethernet8"]["link.json.j2"], "link.json.j2 sees the port as well"
    assert leaf["Ethernet256"]["link.json.j2"] != leaf["Ethernet264"]["link.json.j2"].replace("264", "256")


def test_equal_ports_share_one_form(tmp_path: Path) -> None:
    plans, templates = mixed_fabric(tmp_path / "inventory"), overlay(tmp_path / "templates")
    library = TemplateLibrary("sonic", templates)
    renderer = SwitchRenderer(plans.rendered, plans.allocation, plans.control, plans.planner, library)
    rendered = renderer.render(plans.rendered.switches[0])
    assert rendered
    by_port = {port: form for form, ports in rendered.port_forms.items() for port in ports}
    assert by_port["Ethernet496"] == by_port["Ethernet504"], "two ports of one kind with nothing plugged in"
    again = SwitchRenderer(plans.rendered, plans.allocation, plans.control, plans.planner, library)
    forms = len(library.forms)
    again.render(plans.rendered.switches[0])
    assert len(library.forms) == forms, "contexts made anew are equal to the first ones"


def other(content: object) -> list[Any]:
    """Contents that a template or the source map can distinguish from this one."""
    if isinstance(content, Slot):
        return [Slot("another.slot", content.origin), Slot(str(content)[1:-1], Origin("elsewhere"))]
    if isinstance(content, Value):
        return [Value(f"{content}0", content.origin), Value(content, Origin("elsewhere")), None]
    if isinstance(content, tuple):
        longer = (*content, Value("one more", Origin()))
        return [longer, *[(*content[:-1], last) for item in content[-1:] for last in other(item)]]
    if isinstance(content, bool):
        return [not content]
    if isinstance(content, int):
        return [content + 1]
    if isinstance(content, str):
        return [f"{content}0"]
    if content is None:
        return [Value("some", Origin())]
    if isinstance(content, Mapping):
        return [{**content, "one": Value("more", Origin())}]
    if isinstance(content, PortBuffers):
        return [dataclasses.replace(content)]
    assert isinstance(content, Context), content
    return list(altered(content))


def altered(context: Any) -> Iterator[Any]:
    """Copies of a context, each with another content of one field."""
    for field in dataclasses.fields(context):
        for content in other(getattr(context, field.name)):
            yield dataclasses.replace(context, **{field.name: content})


def samples(plans: Plans, monkeypatch: pytest.MonkeyPatch) -> set[Context]:
    """Every context of a fabric that any template sees, also those inside others."""
    found: set[Context] = set()

    def note(content: object) -> None:
        for inner in content if isinstance(content, tuple) else [content]:
            if isinstance(inner, Context):
                found.add(inner)
                for field in dataclasses.fields(inner):  # type: ignore[arg-type]
                    note(getattr(inner, field.name))

    form = TemplateLibrary.form

    def noted(library: TemplateLibrary, template: str, context: Mapping[str, Hashable], device: str) -> int:
        note(tuple(context.values()))
        return form(library, template, context, device)

    monkeypatch.setattr(TemplateLibrary, "form", noted)
    library = TemplateLibrary("sonic")
    renderer = SwitchRenderer(plans.rendered, plans.allocation, plans.control, plans.planner, library)
    for switch in plans.rendered.switches:
        renderer.formed(switch)
    return found


def test_contexts_are_equal_only_if_every_field_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = samples(mixed_fabric(tmp_path / "inventory"), monkeypatch)
    assert len({type(context) for context in found}) >= 8
    for context in found:
        same = dataclasses.replace(context)  # type: ignore[type-var]
        assert same == context and hash(same) == hash(context) and same is not context
        assert all(different != context for different in altered(context)), context


def test_every_context_compares_by_its_fields() -> None:
    """None takes the equality that `dataclass` generates: it compares texts alone and would ask slots."""
    for kind in CLASSES:
        assert kind.__eq__ is Context.__eq__ and kind.__hash__ is Context.__hash__, kind
    with pytest.raises(AssertionError, match="list is not hashable"):
        hash(contexts.ManagementAddress(Slot("a", Origin()), [Value("b", Origin())]))  # type: ignore[arg-type]


def test_the_builders_of_shared_contexts_take_plain_facts() -> None:
    """Their arguments are the whole key of the cache, so each must be a value: equal only if nothing differs."""
    for build in (build_contexts.port_context, build_contexts.link_context):
        hints = typing.get_type_hints(build)
        allowed = (str, int, bool, str | None, tuple[int, str], tuple[bool, str] | None, PortBuffers, Context,
                   contexts.SessionContext)  # fmt: skip
        assert {name: hint for name, hint in hints.items() if hint not in allowed} == {
            "return": hints["return"],
            **({"families": hints["families"]} if "families" in hints else {}),
        }
