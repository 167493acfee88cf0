"""Secrets are found whatever the switches that were searched before share with the one that has them."""

from hypothesis import given
from hypothesis import strategies as st

from fabricgen.handoff.secret_rows import SecretRows
from fabricgen.sonic.secrets import literals

PLAIN = {"10.0.0.1": {"asn": "65000"}}
SECRET = {"10.0.0.1": {"auth_password": "x"}}
BY_FORM = {"10.0.0.1": {"name": "$6$salt$hashhashhash"}}
SWITCHES = st.lists(
    st.dictionaries(
        st.sampled_from(["BGP_NEIGHBOR", "BGP_PEER_GROUP", "SNMP_COMMUNITY"]), st.sampled_from([PLAIN, SECRET, BY_FORM])
    ),
    max_size=6,
)


@given(SWITCHES, st.booleans())
def test_each_switch_is_judged_as_if_it_were_the_only_one(switches: list[dict[str, object]], has_forms: bool) -> None:
    secrets = SecretRows()
    found = [secrets.are_in(config, has_forms=has_forms) for config in switches]
    assert found == [any(literals(config, has_forms=has_forms)) for config in switches]
