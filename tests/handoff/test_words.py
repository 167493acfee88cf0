"""Words of fabric.json in YAML output are text."""

import pytest
import yaml

from fabricgen.handoff.templates import yaml_bytes
from fabricgen.vocabulary import Role


@pytest.mark.parametrize("word", [Role.LEAF, Role.read("rack-leaf"), Role.UNKNOWN])
def test_a_word_is_written_as_text(word: Role) -> None:
    assert yaml_bytes({word: [word]}) == yaml_bytes({word.value: [word.value]})
    assert yaml.safe_load(yaml_bytes([word])) == [word.value]
