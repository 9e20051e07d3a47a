"""What counts as nothing: empty, white space, or a byte order mark with nothing else."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MARK = "\ufeff"
_UTF16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def stripped(text: str) -> str:
    """Return *text* without a leading byte order mark and without white space around it."""
    return text.strip().removeprefix(_MARK).strip()


def is_blank_text(text: str) -> bool:
    """Return whether *text* says nothing."""
    return not stripped(text)


def is_blank(data: bytes) -> bool:
    """Return whether a file of *data* says nothing, in UTF-8 or in UTF-16 with its mark."""
    return are_blank((data,))


def are_blank(chunks: Iterable[bytes]) -> bool:
    """Return whether a file of these *chunks* says nothing; none is taken after one that does not."""
    marked = False
    for text in _decoded(chunks):
        said = text.strip()
        if said and (marked or said != _MARK):
            return False
        marked = marked or bool(said)
    return True


def _decoded(chunks: Iterable[bytes]) -> Iterator[str]:
    left = iter(chunks)
    head = b""
    while len(head) < len(codecs.BOM_UTF16) and (chunk := next(left, None)) is not None:
        head += chunk
    encoding = _UTF16_MARKS.get(head[:2])
    decoder = codecs.getincrementaldecoder(encoding or "utf-8")("replace")
    yield decoder.decode(head if encoding is None else head[2:])
    for chunk in left:
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)
