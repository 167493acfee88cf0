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
        """The value with every text that could be a template marked. Keys of mappings are not templates."""
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, Mapping):
            return {key: cls.of(item) for key, item in value.items()}
        return [cls.of(item) for item in value] if isinstance(value, list | tuple) else value


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
