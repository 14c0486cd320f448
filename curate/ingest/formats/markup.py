"""Reads XML and YAML files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import yaml

from curate.ingest.formats.json_tables import records_in_document
from curate.ingest.formats.rows import Row, opened, row_of

_SCANNED: Final = 20_000  # elements from which the one that is a record is found

Tags = tuple[str, ...]


def read_xml(path: Path, name: str, _max_bytes: int, _encoding: str) -> Iterator[Row]:
    """The records of an XML file: the outermost element that repeats, its attributes and children as columns."""
    number = 0
    try:
        wanted = _record_path(path)
        for number, element in enumerate(_elements(path, wanted), 1):
            record = _value(element)
            yield row_of(f"{name}#{number}", record if isinstance(record, dict) else {"text": record})
        if not number:
            yield Row(f"{name}:1", None, "broken_file", "no element of it repeats")
    except ET.ParseError as error:
        yield Row(f"{name}#{number + 1}", None, "broken_file", str(error))


def _record_path(path: Path) -> Tags:
    """The tags from the root to the outermost element that occurs more than once; the root's child if none does."""
    counts: Counter[Tags] = Counter()
    stack: list[str] = []
    # what is behind a fault is reported when it is read
    with opened(path) as file, suppress(ET.ParseError):
        for event, element in ET.iterparse(file, ("start", "end")):  # noqa: S314  # expat bounds what entities expand to
            if event == "start":
                stack.append(_tag(element.tag))
                counts[tuple(stack)] += 1
            else:
                stack.pop()
                element.clear()
            if counts.total() > _SCANNED:
                break
    repeated = [tags for tags, count in counts.items() if count > 1]
    inner = [tags for tags in counts if len(tags) == 2]
    return min(repeated or inner or [()], key=len)


def _elements(path: Path, wanted: Tags) -> Iterator[ET.Element]:
    """The elements at a path, one at a time; each is cleared after its turn."""
    stack: list[ET.Element] = []
    with opened(path) as file:
        for event, element in ET.iterparse(file, ("start", "end")):  # noqa: S314  # expat bounds what entities expand to
            if event == "start":
                stack.append(element)
                continue
            is_wanted = len(stack) == len(wanted) and tuple(_tag(one.tag) for one in stack) == wanted
            stack.pop()
            if is_wanted:
                yield element
            if len(stack) < len(wanted):
                element.clear()
                if stack:
                    stack[-1].clear()


def _tag(tag: str) -> str:
    """A tag without its namespace."""
    return tag.rpartition("}")[2]


def _value(element: ET.Element) -> Any:  # Any: a text, or a table of them
    """The text of an element, or its attributes and children as a table; children of one name form a list."""
    is_mixed = len(element) and any((text or "").strip() for text in (element.text, *(one.tail for one in element)))
    if is_mixed or (not len(element) and not element.attrib):
        return "".join(element.itertext()).strip() or None
    record: dict[str, Any] = {_tag(name): value for name, value in element.attrib.items()}
    for child in element:
        tag, value = _tag(child.tag), _value(child)
        if tag in record:
            earlier = record[tag]
            record[tag] = [*(earlier if isinstance(earlier, list) else [earlier]), value]
        else:
            record[tag] = value
    if text := (element.text or "").strip():
        record.setdefault("text", text)
    return record


class _Plain(yaml.SafeLoader):
    """YAML whose plain scalars are texts, except null and whole numbers: `yes`, `0.50` and `1/2` stay as written."""


_Plain.yaml_implicit_resolvers = {}
_Plain.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""])
_Plain.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"-?(?:0|[1-9]\d{0,17})\Z"), list("-0123456789"))
_Plain.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"<<\Z"), ["<"])


def read_yaml_rows(path: Path, name: str, max_bytes: int, encoding: str) -> Iterator[Row]:
    """The records of a YAML file of at most `max_bytes`: in lists, tables, or one a document."""
    with opened(path, encoding) as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        yield Row(f"{name}:1", None, "too_large", f"over {max_bytes} bytes")
        return
    number = 0
    try:
        for document in yaml.load_all(data.decode("utf-8-sig"), _Plain):
            # aliases can make a small file huge
            if _has_more_nodes(document, len(data)):
                yield Row(f"{name}#{number + 1}", None, "too_large", "its aliases repeat too much")
                return
            for record in document if isinstance(document, list) else records_in_document(document) or [document]:
                number += 1
                yield row_of(f"{name}#{number}", record)
    except UnicodeDecodeError as error:
        yield Row(f"{name}#{number + 1}", None, "invalid_utf8", f"byte {error.start}")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        yield Row(f"{name}#{number + 1}", None, "broken_file", " ".join(str(error).split()))


def _has_more_nodes(value: Any, limit: int) -> bool:  # Any: any YAML value
    """Whether a value holds more values than `limit`."""
    num, waiting = 0, [value]
    while waiting and num <= limit:
        item = waiting.pop()
        num += 1
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return num > limit
