"""The explanation of one rendered value: the value and its origins, step by step."""

from collections.abc import Iterator, Sequence

from fabricgen.bundle.read import ObservedDevice
from fabricgen.bundle.sources import Explanation
from fabricgen.findings import Location
from fabricgen.sonic.secrets import PLACEHOLDER, is_secret, is_secret_text, shown_key


def explain_value(
    device: ObservedDevice, path: Sequence[str], explanation: Explanation | None, guards: Sequence[str] = ()
) -> Iterator[str]:
    """Lines about TABLE, key, field of a device; `guards` are the codes of the rules that check it."""
    table, key, name = path
    content = device.row(table, key).get(name)
    hidden = is_secret(table, name) or is_secret_text(str(content))
    hidden = hidden and not str(content).startswith(PLACEHOLDER)
    shown = "*** (not shown: it may be a secret)" if hidden else repr(content).replace("'", '"')
    yield f"{device.name}  {table}|{shown_key(table, key)}|{name} = {shown}"
    yield f"  in        {device.locate(*path)}"
    yield f"  guarded   {', '.join(guards) or 'by no rule'}"
    yield from _made_by(explanation)


def explain_option(
    subnet: str, option: str, text: str, place: Location, explanation: Explanation | None
) -> Iterator[str]:
    """Lines about an option of a subnet manager."""
    secret = is_secret("opensm.conf", option) and not text.startswith(PLACEHOLDER)
    yield f"{subnet}  {option} = {'*** (not shown: it is a secret)' if secret else text}"
    yield f"  in        {place}"
    yield from _made_by(explanation)


def _made_by(explanation: Explanation | None) -> Iterator[str]:
    if explanation is None:
        yield "  source    none recorded: not rendered by fabricgen, or changed by hand"
        return
    yield f"  template  {explanation.template}"
    for origin in explanation.origins:
        if origin.inventory:
            yield f"  asked by  {origin.inventory}"
        if origin.platform:
            yield f"  fact      {origin.platform}"
        yield from (f"  step      {step}" for step in origin.steps)
    if not explanation.origins:
        yield "  step      the template's own text"
