"""YAML output of data that contains enums of words."""

import enum

import yaml


class WordDumper(yaml.SafeDumper):
    """Writes a word as its text. Other types are those of yaml.SafeDumper."""


def _text(dumper: WordDumper, word: enum.StrEnum) -> yaml.Node:
    return dumper.represent_data(word.value)


WordDumper.add_multi_representer(enum.StrEnum, _text)
