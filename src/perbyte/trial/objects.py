"""Objects as subjects: the call that makes one of a class, feeds it and asks for its output, by its members' names."""

from __future__ import annotations

from collections.abc import Collection

from perbyte.trial.steps import READ

_MEMBERS: dict[str, list[str]] = READ["members"]
_OBJECTS = {
    "python": "made = {maker}; made.{feed}(data); made.{give}()",
    "javascript": "const made = {maker}; made.{feed}(data); made.{give}()",
    "java": "var made = {maker}; made.{feed}(data); made.{give}()",
}


def object_call(language: str, maker: str, methods: Collection[str]) -> str:
    """The call that feeds and asks an object of `maker`, an expression; '' where its methods do not tell how."""
    there = {method.lower(): method for method in methods}
    feed = next((there[word] for word in _MEMBERS["feed"] if word in there), "")
    give = next((there[word] for word in _MEMBERS["give"] if word in there), "")
    return _OBJECTS[language].format(maker=maker, feed=feed, give=give) if feed and give else ""
