"""Compilations of a frame after its first, and what made them necessary."""

from graphlens.model.advice import Fix
from graphlens.model.base import Data
from graphlens.model.source import SourceLocation


class GuardFailure(Data, frozen=True, kw_only=True):
    """One guard that failed and so caused a recompile.

    Attributes:
        failed: Compile id of the cache entry whose guard failed.
        guard: Torch's text.
        kind: Class of guard. Of a tensor: ``tensor_size``, ``tensor_stride``, ``tensor_rank``,
            ``tensor_dtype``, ``tensor_device``, ``requires_grad``, ``aliasing`` (whether two are
            one). Of a container: ``container_length``, or ``collection_length`` where it is known
            to be no list. Of an object: ``none_or_value``, ``object_identity``,
            ``argument_type``, ``attribute_presence``, ``attribute_value``, ``training_flag``. Of a
            value: ``bool_value``, ``int_value``, ``float_value``, ``string_value``,
            ``global_value``, ``value_at_graph_break``. Of torch: ``global_state``, ``backend``.
            Of what is not understood: ``other``.
        source: The guarded source in torch's terms, such as ``L['x']``; empty when not named.
        subject: The same in the user's terms, such as ``argument `x`, dimension 1``.
        expected: What the cache entry was specialised on; empty when not stated.
        actual: What came; empty when neither stated nor seen.
        user_line: The line torch quotes for the guard.
    """

    failed: str
    guard: str
    kind: str = "other"
    source: str = ""
    subject: str = ""
    expected: str = ""
    actual: str = ""
    user_line: SourceLocation | None = None


class Difference(Data, frozen=True, kw_only=True):
    """Something that was different when a frame was compiled again.

    Attributes:
        subject: What, in the user's terms.
        before: When the earlier compilation was made.
        after: Now.
    """

    subject: str
    before: str
    after: str


class Recompile(Data, frozen=True, kw_only=True):
    """A frame compiled again because no cache entry's guards held.

    Attributes:
        frame: Torch's frame number.
        function: Name of the function.
        file: File of its first line.
        line: Its first line.
        compile_id: The compilation this caused.
        causes: One for each cache entry that was tried, as torch lists them.
        nearest: Compile id of the earlier compilation that this call comes closest to; empty when
            not known.
        differences: All that this call has different from the nearest, the failed guard first.
        called_from: The user's line that made the call.
        advice: What to do, best first.
        fixes: Advice that can be done as it stands, best first.
    """

    frame: str
    function: str
    file: str
    line: int
    compile_id: str
    causes: tuple[GuardFailure, ...] = ()
    nearest: str = ""
    differences: tuple[Difference, ...] = ()
    called_from: SourceLocation | None = None
    advice: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
