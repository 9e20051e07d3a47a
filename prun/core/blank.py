"""What counts as nothing: empty, white space, or a byte order mark with nothing else."""

from __future__ import annotations

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
    encoding = _UTF16_MARKS.get(data[:2])
    if encoding is not None:
        return is_blank_text(data[2:].decode(encoding, "replace"))
    return is_blank_text(data.decode("utf-8", "replace"))
