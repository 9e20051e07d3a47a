"""What a follow-up takes over from the unit that it follows."""

from __future__ import annotations

from pathlib import Path

from prun.core.conversation_id import valid_conversation_id
from prun.core.errors import UsageError
from prun.core.plain import visible
from prun.core.records import decode_request
from prun.core.transcript import read
from prun.core.values import dataclass
from prun.flow.leasing import check_over
from prun.system.reading import Contents, Missing, is_directory, read_bounded, read_start
from prun.system.state_dir import PREFIX, StateDir

ID_LIMIT_BYTES = 4096
REQUEST_LIMIT_BYTES = 1024 * 1024
INIT_LIMIT_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Earlier:
    """The unit whose conversation goes on: the conversation's id, and its scratch if that is still there."""

    conversation_id: str
    scratch: str | None


def read_earlier(root: Path) -> Earlier:
    """Return what a follow-up of the unit in the state directory *root* needs, or raise ``UsageError``."""
    if not is_directory(root):
        raise UsageError(f"--continue-from {visible(str(root))}: no such directory; name a state directory")
    state = StateDir(root)
    found = read_bounded(state.conversation_id, ID_LIMIT_BYTES)
    if isinstance(found, Contents):
        conversation_id = valid_conversation_id(found.data, visible(str(state.conversation_id)))
    elif isinstance(found, Missing):
        conversation_id = _id_in_tail(state)
    else:
        raise UsageError(
            f"cannot read {visible(str(state.conversation_id))}: {found.describe()}; "
            "continue from another state directory"
        )
    check_over(state, conversation_id)
    return Earlier(conversation_id, _scratch(state))


def _id_in_tail(state: StateDir) -> str:
    conversation_id = read([read_start(state.tail, INIT_LIMIT_BYTES)]).conversation_id
    if conversation_id is None:
        raise UsageError(
            f"--continue-from {visible(str(state.root))}: no conversation id there, "
            "neither in conversation-id nor in tail; dispatch without --continue-from"
        )
    return valid_conversation_id(conversation_id.encode(), visible(str(state.tail)))


def _scratch(state: StateDir) -> str | None:
    """Return the scratch to go on in, where the record names one that a dispatcher made.

    The record lies where the worker could write: it is believed only of a real scratch in a state directory.
    """
    found = read_bounded(state.request, REQUEST_LIMIT_BYTES)
    request = decode_request(found.data) if isinstance(found, Contents) else None
    if request is None or not request.work_dir_made:
        return None
    work = Path(request.work_dir)
    ours = work == StateDir(work.parent).work and work.parent.name.startswith(PREFIX)
    return str(work) if ours and is_directory(work) and not work.is_symlink() else None
