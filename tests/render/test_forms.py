"""Forms are shared between ports and switches, so stamping leaves them as they are."""

from fabricgen.origin import Origin
from fabricgen.render.forms import Form, Slot, Tables


def test_a_row_of_two_forms_changes_neither() -> None:
    peer = Slot("peer", Origin())
    kind, model = (Form("link", f'{{"NEIGHBOR": {{"{peer}": {{{row}}}}}}}') for row in ('"type": "t"', '"hwsku": "h"'))
    both: Tables = {}
    for form in (kind, model):
        form.stamp(both, {"peer": "a"})
    assert both == {"NEIGHBOR": {"a": {"type": "t", "hwsku": "h"}}}
    alone: Tables = {}
    kind.stamp(alone, {"peer": "b"})
    assert alone == {"NEIGHBOR": {"b": {"type": "t"}}}
