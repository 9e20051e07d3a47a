"""What macOS's kernel answers about processes, parsed; the offsets are those of its 64-bit structures.

``struct kinfo_proc`` (sys/sysctl.h) is an ``extern_proc`` of 296 bytes (sys/proc.h) and an ``eproc``.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from prun.system.process._contract import Ended
from prun.system.process._kin import Process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KINFO_BYTES = 648
_START = Struct("<qi")  # extern_proc.p_un.__p_starttime: seconds, microseconds
_STATE_AT = 36  # extern_proc.p_stat
_PID_AT = 40  # extern_proc.p_pid
_NAME = slice(243, 260)  # extern_proc.p_comm
_PARENT_AT = 560  # eproc.e_ppid
_GROUP_AT = 564  # eproc.e_pgid
_INT = Struct("<i")
_ZOMBIE = 5  # SZOMB
_SIGNAL_BITS, _CODE_SHIFT, _CODE_BITS = 0x7F, 8, 0xFF


def parse_kinfo(data: bytes, session_of: Callable[[int], int]) -> Iterator[Process]:
    """Yield the processes of a ``KERN_PROC`` answer; it has no sessions, so *session_of* is asked."""
    for at in range(0, len(data) - KINFO_BYTES + 1, KINFO_BYTES):
        one = data[at : at + KINFO_BYTES]
        seconds, micros = _START.unpack_from(one)
        (pid,) = _INT.unpack_from(one, _PID_AT)
        yield Process(
            pid=pid,
            start=f"{seconds}.{micros:06d}",
            parent=_INT.unpack_from(one, _PARENT_AT)[0],
            group=_INT.unpack_from(one, _GROUP_AT)[0],
            session=session_of(pid),
            name=one[_NAME].partition(b"\0")[0].decode("utf-8", "replace"),
            zombie=one[_STATE_AT] == _ZOMBIE,
        )


def parse_arguments(data: bytes) -> bytes:
    """Return the environment in a ``KERN_PROCARGS2`` answer, in the form of /proc/PID/environ.

    The answer holds the number of arguments, the program's path, padding, the arguments, the environment.
    """
    if len(data) < _INT.size:
        return b""
    (count,) = _INT.unpack_from(data)
    _program, _, rest = data[_INT.size :].partition(b"\0")
    parts = rest.lstrip(b"\0").split(b"\0")
    environ, _, _ = b"\0".join(parts[max(count, 0) :]).partition(b"\0\0")
    return environ


def parse_wait_status(status: int) -> Ended:
    """Return how a process ended, from the status that ``wait`` or ``NOTE_EXITSTATUS`` gives."""
    number = status & _SIGNAL_BITS
    return Ended(signal=number) if number else Ended(code=status >> _CODE_SHIFT & _CODE_BITS)
