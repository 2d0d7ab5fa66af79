"""Why a line breaks the graph, in the user's terms."""

import re
from collections.abc import Callable
from functools import partial

import msgspec

from graphlens.analysis.break_blocks import whole_function
from graphlens.analysis.break_triggers import find_trigger, libraries_called
from graphlens.analysis.causes import called_name, classify, of_numpy
from graphlens.analysis.crossed_values import resumed_function
from graphlens.analysis.library_calls import LibraryCall, library_call
from graphlens.analysis.places import is_library, is_torch, short_path
from graphlens.analysis.source_code import SourceFiles
from graphlens.model import GraphBreak, SourceLocation, Unavailable

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
# What is wrong with these can be the arguments, or the graph as a whole.
_OF_THE_CALL = ("user_exception", "backend_failed")
_NOT_AT_HAND = Unavailable("the source file was not at hand")


def with_reason(
    found: GraphBreak,
    files: SourceFiles,
    root: SourceLocation | None = None,
    given_up: SourceLocation | None = None,
) -> GraphBreak:
    """A break with cause, trigger and excerpt, and why it is one.

    Args:
        found: From torch's words.
        files: The user's.
        root: First line of the function that was compiled when the break was met.
        given_up: That of the function that torch gave up on for it, where that is another.
    """
    source = files.file(found.file)
    cause = classify(found, libraries_called(found, files))
    of_library = cause == "untraceable_library"
    call = library_call(found, files) if of_library else LibraryCall()
    trigger, caret = find_trigger(found, cause, source, call.node)
    complete = msgspec.structs.replace(
        found,
        cause=cause,
        advice=() if cause in _OF_THE_CALL else _advice_outside(found, root),
        trigger=trigger,
        caret=caret,
        library_function=call.name,
        excerpt=source.excerpt(found.line) or _NOT_AT_HAND,
        explanation=_ADDRESS.sub("", found.explanation),
        context=_ADDRESS.sub("", found.context),
    )
    why, inside = whole_function(complete, files, given_up or root)
    return msgspec.structs.replace(
        complete,
        because=_outside(complete) if complete.advice else because(complete),
        skipped_because=why,
        inside=inside,
    )


def because(found: GraphBreak) -> str:
    """Why the line breaks the graph; what is more to say of it stands on a line of its own."""
    text = _BECAUSE[found.cause](found)
    if found.operator:
        text += f"\nIt is in a function given to {found.operator}, and all of that call runs eager."
    return text


def _saying(template: str, found: GraphBreak) -> str:
    what = f"`{found.trigger}`" if found.trigger else "this line"
    return template.format(what=what, name=called_name(found) or found.trigger or "a function")


def _library(found: GraphBreak) -> str:
    place = found.points_to
    called = f"`{found.trigger or found.code}`"
    if of_numpy(found):
        return f"{called} gives a number of NumPy's, which is known only when the graph has run."
    if place is not None and is_library(place.file) and place.file != found.file:
        return f"{called} runs library code that Dynamo cannot trace."
    return f"{called} calls a library whose functions Dynamo cannot trace."


def _advice_outside(found: GraphBreak, root: SourceLocation | None) -> tuple[str, ...]:
    """What to do where a library's function is compiled and the line only calls it."""
    place = found.points_to
    if root is None or place is None or not is_library(root.file) or not is_library(place.file):
        return ()
    name = resumed_function(root.function)
    starts = [
        count
        for count, frame in enumerate(found.stack)
        if frame.file == root.file and resumed_function(frame.function) == name
    ]
    # Tracebacks leave out some frames of decorators, and all of torch's around a user's function.
    if not starts and is_torch(root.file):
        return ()
    if starts and any(not is_library(frame.file) for frame in found.stack[starts[0] :]):
        return ()
    return ("Report it there, or replace that part.",)


def _outside(found: GraphBreak) -> str:
    place = found.points_to or SourceLocation(file=found.file, line=found.line)
    where = short_path(place.file)
    return (
        f"The break is in {where.partition('/')[0]}'s code at {where}:{place.line}: {found.kind}."
    )


def _disabled(found: GraphBreak) -> str:
    reason = re.search(r"\(reason: (?P<reason>.*?)\)\s*$", found.explanation)
    name = re.search(r"<function (?P<name>[^`]+)>", found.explanation)
    what = f"`{name['name']}`" if name else f"`{found.trigger}`"
    told = f": {reason['reason']}" if reason and reason["reason"] != "None" else ""
    return f"{what} is marked with torch.compiler.disable, so this break is intended{told}."


def _exception(found: GraphBreak) -> str:
    raised = re.search(r"raised exception (?P<raised>.*)", found.context)
    what = raised["raised"] if raised else "an exception"
    return f"The program raises {what}; torch gives up on the function for this call."


def _other(found: GraphBreak) -> str:
    what = f"`{found.trigger}`" if found.trigger else "This line"
    return f"{what}: {found.kind}."


def _texts(**templates: str) -> dict[str, Callable[[GraphBreak], str]]:
    return {cause: partial(_saying, template) for cause, template in templates.items()}


_BECAUSE: dict[str, Callable[[GraphBreak], str]] = {
    **_texts(
        data_dependent_branch="Which way the program goes depends on the value of {what}, a "
        "tensor, which is known only when the graph has run.",
        tensor_to_python_number="{what} turns a tensor into a Python number, for which the graph "
        "has to run first.",
        data_dependent_output_shape="The size of what {what} gives depends on the values of a "
        "tensor, and is known only when the graph has run.",
        print_call="{what} writes while the function runs, which a graph cannot do.",
        logging_call="{what} writes a log message, which a graph cannot do.",
        warnings_call="{what} gives a warning, which a graph cannot do.",
        untraceable_builtin="`{name}` is a built-in or C function, into which Dynamo cannot look.",
        custom_op_without_fake="`{name}` has no fake implementation: without running it, torch "
        "cannot know shape and dtype of what it gives.",
        skipped_function="torch does not trace `{name}` on purpose.",
        explicit_graph_break="{what} asks for a graph break.",
        break_by_torch="torch's own code, called by {what}, asks for a graph break here.",
        backward_call="{what} runs a backward pass, which Dynamo does not trace by default.",
        autograd_inside="{what} takes a gradient, which Dynamo does not trace by default.",
        autograd_function="{what} calls a custom autograd.Function in a way Dynamo cannot trace.",
        sparse_tensor="{what} gives or uses a sparse tensor, which Dynamo cannot trace.",
        torchscript_function="{what} calls TorchScript (torch.jit), which is compiled already and "
        "which Dynamo cannot look into.",
        exception_handling="{what} handles exceptions in a way Dynamo cannot trace.",
        context_manager="{what} uses a context manager that Dynamo cannot trace.",
        generator="{what} uses a generator in a way Dynamo cannot trace.",
        hook="{what} uses a hook that Dynamo cannot trace.",
        mutation="{what} changes a tensor in a way that a graph cannot hold.",
        side_effect="{what} changes something outside of the function in a way Dynamo cannot put "
        "off to the end of the graph.",
        unsupported_type="{what} uses a kind of object that Dynamo cannot trace.",
        backend_failed="The backend failed on the graph that ends here.",
    ),
    "untraceable_library": _library,
    "disabled_function": _disabled,
    "user_exception": _exception,
    "other": _other,
}
