"""Secrets never appear in what is shown."""

import json

import pytest

from fabricgen.deploy.disguise import HIDDEN, Disguise

RENDERED = {
    "SNMP_COMMUNITY": {"${secret:snmp}": {"TYPE": "RO"}},
    "TACPLUS": {"global": {"passkey": "${secret:tac}", "timeout": "5"}},
    "SITE": {"x": {"token": ["a", "${secret:tac}"], "door": "1"}},
}
SECRETS = {"snmp": "community-new", "tac": "tac-new"}


@pytest.fixture
def disguise() -> Disguise:
    """With one field and one table that the role names."""
    return Disguise(RENDERED, ["NTP_KEY"], ["password"])


def test_secrets_are_filled_in_keys_fields_and_lists(disguise: Disguise) -> None:
    assert disguise.fill(RENDERED, SECRETS) == {
        "SNMP_COMMUNITY": {"community-new": {"TYPE": "RO"}},
        "TACPLUS": {"global": {"passkey": "tac-new", "timeout": "5"}},
        "SITE": {"x": {"token": ["a", "tac-new"], "door": "1"}},
    }
    with pytest.raises(KeyError, match="tac"):
        disguise.fill(RENDERED, {"snmp": "x"})


def test_a_given_secret_is_shown_as_its_placeholder(disguise: Disguise) -> None:
    filled = disguise.fill(RENDERED, SECRETS)
    assert disguise.shown("TACPLUS", filled["TACPLUS"]) == RENDERED["TACPLUS"]
    assert disguise.shown("SNMP_COMMUNITY", filled["SNMP_COMMUNITY"]) == {"${secret:snmp}": {"TYPE": HIDDEN}}
    assert disguise.shown("SITE", filled["SITE"]) == {"x": {"token": [HIDDEN, "${secret:tac}"], "door": "1"}}


def test_a_secret_of_the_switch_is_not_shown(disguise: Disguise) -> None:
    running = {
        "SNMP_COMMUNITY": {"community-old": {"TYPE": "RO"}, "community-b": {"TYPE": "RW"}},
        "TACPLUS": {"global": {"passkey": "tac-old", "timeout": "9"}},
        "NTP_KEY": {"1": {"value": "ntp-old"}},
        "USER": {"joe": {"PASSWORD": "joe-old", "shell": "bash"}},
    }
    text = json.dumps({table: disguise.shown(table, rows) for table, rows in running.items()})
    for secret in ("community-old", "community-b", "tac-old", "ntp-old", "joe-old"):
        assert secret not in text
    shown = disguise.shown("SNMP_COMMUNITY", running["SNMP_COMMUNITY"])
    assert list(shown) == [f"{HIDDEN} 1", f"{HIDDEN} 2"]
    assert disguise.shown("USER", running["USER"])["joe"]["shell"] == "bash"


def test_noted_secrets_are_texts_that_are_no_words(disguise: Disguise) -> None:
    disguise.note(
        {
            "SNMP_COMMUNITY": {"community-old": {"TYPE": "RO"}},
            "USER": {"joe": {"password": "joe-old", "shell": "bash"}},
        }
    )
    assert disguise.seen == {"community-old", "joe-old"}
