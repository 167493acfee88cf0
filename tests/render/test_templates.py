"""Overlays and their errors: template and line, the device it was first needed for, never a traceback."""

import json
import re
from pathlib import Path

import pytest

from fabricgen.resources import resource
from tests.conftest import Cli, Outcome
from tests.inventories import explicit, write


def overlaid(cli: Cli, folder: Path, text: str, name: str = "switch.json.j2", *more: object) -> Outcome:
    (folder / "templates").mkdir(exist_ok=True)
    (folder / "templates" / name).write_text(text)
    inventory = write(folder / "inventory", explicit())
    return cli("render", inventory, "-o", folder / "b", "-q", "--templates", folder / "templates", *more)


def test_an_overlay_replaces_one_template(cli: Cli, tmp_path: Path) -> None:
    text = '{"BANNER_MESSAGE": {"global": {"motd": "{{ switch.hostname }} 100% of {{ switch.hwsku }}"}}}'
    assert overlaid(cli, tmp_path, text, "management.json.j2").code == 0
    config = json.loads((tmp_path / "b/sonic/leaf1/config_db.json").read_text())
    assert config["BANNER_MESSAGE"]["global"]["motd"] == "leaf1 100% of Arista-7060X6-64PE-O128S2"
    assert "NTP" not in config and "PORT" in config
    assert not list((tmp_path / "inventory").glob("*.j2"))


def test_all_verbs_that_render_use_the_same_templates(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`check` and `report` judge what `render` writes, with results of earlier runs, too: a changed template counts."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "inventory", explicit())
    (tmp_path / "fabricgen.toml").write_text('templates = "site"\n')
    (tmp_path / "site").mkdir()
    shipped = resource("templates", "sonic", "link.json.j2").read_text()
    check = ("check", "inventory", "--cache", "cache", "--format", "json")
    assert cli(*check).code == 0
    (tmp_path / "site" / "link.json.j2").write_text(re.sub(r'"pfc_enable": "[^"]*"', '"pfc_enable": "5"', shipped))
    assert cli("render", "inventory", "-o", "b", "-q").code == 0
    judged = cli("validate", "b", "--format", "json")
    found = cli(*check)
    assert judged.code == found.code == 1
    errors = {(one["code"], one["device"]) for one in json.loads(judged.out)["findings"]}
    assert errors and errors <= {(one["code"], one["device"]) for one in json.loads(found.out)["findings"]}
    assert cli("report", "inventory").out.startswith("Do not merge")
    assert cli("report", "b").out.startswith("Do not merge"), "a bundle is judged as it is"
    assert cli("diff", "inventory", "--release", "202505", "202511", "-q").code == 0
    (tmp_path / "site" / "link.json.j2").write_text(shipped)
    assert cli(*check).code == 0


def test_an_overlay_may_extend_what_it_replaces(cli: Cli, tmp_path: Path) -> None:
    assert (
        overlaid(cli, tmp_path, '{% include "sonic/none.j2" ignore missing %}{"A": {"{{ switch.asn }}": {}}}').code == 0
    )


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('{\n"A": {"b": {"c": "{{ switch.hostnme }}"}}}', 2, "template error: the switch has no hostnme"),
        ('{\n\n"A": {"b": {"c": "{{ swich.hostname }}"}}}', 3, "template error: 'swich' is undefined"),
        ('{"A": {"b": {"c": "{{ switch.hostname"}}}', 1, "template error: unexpected"),
        ("{}\n{% if true %}", 2, "template error: Unexpected end of template"),
        ('{% if switch.hostname == "leaf1" %}{}{% endif %}', 1, "{switch.hostname} differs from row to row"),
        ("{% if not switch.asn %}{}{% endif %}", 1, "{switch.asn} differs from row to row"),
        ('{"A": {"{{ switch.hostname|length }}": {}}}', 1, "{switch.hostname} differs from row to row"),
        ('{"A": {"{{ switch.hostname|int }}": {}}}', 1, "{switch.hostname} differs from row to row"),
        ('{"A": {"{{ switch.hostname[0] }}": {}}}', 1, "{switch.hostname} differs from row to row"),
        ('{"A": {"{{ switch.hostname|upper }}": {}}}', 0, "a filter has changed a blank"),
        ('{"A": {"{{ switch.hostname|replace("a", "b") }}": {}}}', 0, "a filter has changed a blank; print"),
        ("{{ 1 / 0 }}", 1, "division by zero"),
        ("{{ range(1000000) }}", 1, "Range too big"),
        ("{{ {}.x.y }}", 1, "template error: 'dict object' has no attribute 'x'"),
        ('{{ "".__class__.__mro__ }}', 1, "unsafe"),
        ("{% include 'nothing.j2' %}", 0, "no template nothing.j2"),
        ("[]", 0, "is not a mapping of rows"),
        ('{"A": 5}', 0, "A is not a mapping of rows"),
        ('{"A": {"a": {"b": 5}}}', 0, "A|a|b must be text or a list of texts"),
        ('{"A": {"a": {"b": "1", "b": "2"}}}', 0, "'b' occurs twice in one object"),
        ('{"A": {"a": {"b": "1" "c"}}}', 0, "not JSON"),
        ("", 0, "not JSON"),
        ('{"PORT": {"Ethernet0": {"speed": "1"}}}', 0, "PORT|Ethernet0|speed is both '1' and '400000'"),
    ],
)
def test_mistakes_of_a_template(text: str, line: int, problem: str, cli: Cli, tmp_path: Path) -> None:
    outcome = overlaid(cli, tmp_path, text)
    assert outcome.code == 1, outcome.err
    assert problem in outcome.out and "error FG150" in outcome.out
    place = str(tmp_path / "templates" / "switch.json.j2") if problem[:11] not in ("no template", "PORT|Ethern") else ""
    assert outcome.out.startswith("failed: 1 error\n")
    assert f"\n{place}:{line} " in outcome.out if line else f"\n{place}" in outcome.out
    assert "leaf1" in outcome.out and "Traceback" not in outcome.out + outcome.err
    assert not (tmp_path / "b").exists() and not (tmp_path / "inventory" / "allocations.lock.yaml").exists()


def test_a_last_comma_and_quotes_in_values_do_no_harm(cli: Cli, tmp_path: Path) -> None:
    tree = explicit()
    tree["management"]["snmp"]["location"] = 'row "7", rack \\ ü,}'
    outcome = cli("render", write(tmp_path / "inventory", tree), "-o", tmp_path / "b", "-q")
    assert outcome.code == 0, outcome.out
    config = json.loads((tmp_path / "b/sonic/leaf1/config_db.json").read_text())
    assert config["SNMP"]["LOCATION"]["Location"] == 'row "7", rack \\ ü,}'
