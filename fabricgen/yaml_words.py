"""YAML output of data that contains enums of words, texts for Ansible, and texts of several lines."""

import enum
from collections.abc import Mapping

import yaml


class WordDumper(yaml.SafeDumper):
    """Writes a word as its text. Other types are those of yaml.SafeDumper."""


class Unsafe(str):
    """A text that Ansible never reads as a template: it is written with the tag !unsafe."""

    @classmethod
    def of(cls, value: object) -> object:
        """The value with every text that could be a template marked. Keys of mappings are not templates.

        ansible-core from 2.19 reads a marked text as it would read the text without quotes: `!unsafe 'on'` is true, and
        a serial number 0123 is 83 (lib/ansible/_internal/_yaml/_constructor.py, construct_yaml_unsafe). Such a text is
        not a template, and stays unmarked.
        """
        if isinstance(value, str):
            return cls(value) if _is_only_text(value) else str(value)
        if isinstance(value, Mapping):
            return {key: cls.of(item) for key, item in value.items()}
        return [cls.of(item) for item in value] if isinstance(value, list | tuple) else value


def _is_only_text(text: str) -> bool:
    """Whether YAML 1.1 reads a text without quotes as a text: not as a boolean, number, date or null."""
    tag: str = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return tag == "tag:yaml.org,2002:str"


_RESOLVER = yaml.resolver.Resolver()


class BlockDumper(WordDumper):
    """Block style for text of several lines, which keeps JSON readable; no aliases."""

    def ignore_aliases(self, _: object) -> bool:
        return True


def _text(dumper: WordDumper, word: enum.StrEnum) -> yaml.Node:
    return dumper.represent_data(word.value)


def _unsafe(dumper: WordDumper, text: Unsafe) -> yaml.Node:
    return dumper.represent_scalar("!unsafe", str(text), style="'")


def _lines(dumper: BlockDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


WordDumper.add_multi_representer(enum.StrEnum, _text)
WordDumper.add_representer(Unsafe, _unsafe)
BlockDumper.add_representer(str, _lines)
