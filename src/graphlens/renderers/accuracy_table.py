"""The tensors of a comparison, one by one: errors of eager and of compiled code."""

from collections.abc import Sequence

from tabulate import tabulate

from graphlens.model import Accuracy, Errors, Graph, TensorAccuracy, Unavailable
from graphlens.renderers.columns import sizes_text
from graphlens.renderers.comparison import VERDICTS, verdict_in_words
from graphlens.renderers.escape import markdown_text, one_line
from graphlens.renderers.fitting import Grid, draw, shorten, shorten_middle, shrink
from graphlens.renderers.measures import error
from graphlens.renderers.wording import counted, graph_title, wrapped

COLUMNS = (
    "tensor", "dtype", "shape", "verdict", "of", "max abs", "max rel", "ULP", "cosine", "unequal",
    "NaN", "Inf",
)  # fmt: skip
NUMBERS = frozenset({"max abs", "max rel", "ULP", "cosine", "unequal", "NaN", "Inf"})
MOST_TENSORS = 40
_LEFT_OUT = ("unequal", "shape", "cosine", "dtype", "max rel", "Inf", "NaN")


def accuracy_table(
    graph: Graph, width: int | None = None, most: int | None = MOST_TENSORS, root: str = ""
) -> str:
    """Every compared tensor of a graph as text; empty where the graph was not compared.

    Args:
        graph: Of a report that ``compare`` made.
        width: Columns of text; None for no limit.
        most: Most tensors shown, the worst first; None shows all.
        root: Files below this folder are named relative to it.
    """
    if not isinstance(graph.accuracy, Accuracy):
        return ""
    heading = f"{graph_title(graph, root).heading}: {verdict_in_words(graph.accuracy.verdict)}"
    return "\n".join([*wrapped(heading, width), *tensor_lines(graph.accuracy, width, most)]) + "\n"


def tensor_lines(accuracy: Accuracy, width: int | None, most: int | None) -> list[str]:
    """The table of the tensors with what is said around it, as lines of text."""
    text = basis(accuracy)
    lines = wrapped(f"{text[0].upper()}{text[1:]}.", width, "", "  ")
    rows, reasons, left_out = tensor_rows(accuracy, most)
    grid = Grid.of(COLUMNS, rows)
    if width is not None:
        _fit(grid, width)
    lines += draw(grid, right=[name for name in grid.columns if name in NUMBERS])
    if left_out:
        lines.append(f"... {counted(left_out, 'more tensor')}")
    for text in [*reasons, *grid.legend]:
        lines += wrapped(text, width, "", "  ")
    return lines if width is None else [shorten(line, width) for line in lines]


def markdown_table(accuracy: Accuracy, most: int | None = MOST_TENSORS) -> list[str]:
    """The same as lines of Markdown."""
    rows, reasons, left_out = tensor_rows(accuracy, most)
    text = basis(accuracy)
    lines = [markdown_text(f"{text[0].upper()}{text[1:]}."), ""]
    if rows:
        used = [name for name in COLUMNS if any(row.get(name) for row in rows)]
        cells = [[markdown_text(row.get(name, "")) for name in used] for row in rows]
        align = ["right" if name in NUMBERS else "left" for name in used]
        table = tabulate(cells, used, tablefmt="github", disable_numparse=True, colalign=align)
        lines += [table, ""]
    if left_out:
        lines += [f"... {counted(left_out, 'more tensor')}", ""]
    return [*lines, *(f"{markdown_text(text)}  " for text in reasons)]


def basis(accuracy: Accuracy) -> str:
    """Verdict, what stands for the truth, and how much was compared, as one sentence."""
    verdict = VERDICTS.get(accuracy.verdict, one_line(accuracy.verdict))
    reason = f": {one_line(accuracy.reason)}" if accuracy.reason else ""
    if not accuracy.tensors:
        return f"{verdict}{reason}"
    compared = f"{counted(len(accuracy.tensors), 'tensor')} of {counted(accuracy.calls, 'call')}"
    return f"{verdict}{reason} ({compared}, against {one_line(accuracy.reference)})"


def tensor_rows(
    accuracy: Accuracy, most: int | None = None
) -> tuple[list[dict[str, str]], list[str], int]:
    """Rows, two a tensor: of eager and of compiled against the reference.

    Where there is no reference, the row is of compiled against eager.

    Returns:
        The rows, reasons for what is not as it should be, and how many tensors are left out.
    """
    tensors: Sequence[TensorAccuracy] = accuracy.tensors[:most]
    rows: list[dict[str, str]] = []
    reasons: dict[str, None] = {}
    for tensor in tensors:
        call = f" (call {tensor.call + 1})" if accuracy.calls > 1 else ""
        name = one_line(f"{tensor.name}{call}".replace("`", ""))
        head = {
            "tensor": name,
            "dtype": one_line(tensor.dtype),
            "shape": one_line(sizes_text(tensor.shape)),
            "verdict": verdict_in_words(tensor.verdict),
        }
        for of, errors in _compared(tensor):
            rows.append({**head, "of": of, **_cells(errors)})
            head = {}
        for errors in (tensor.eager, tensor.compiled):
            if isinstance(errors, Unavailable):
                reasons[f"not measured against a reference: {one_line(errors.reason)}"] = None
        if tensor.reason and tensor.reason != accuracy.reason:
            reasons[f"{name}: {one_line(tensor.reason)}"] = None
    return rows, list(reasons), len(accuracy.tensors) - len(tensors)


def _compared(tensor: TensorAccuracy) -> list[tuple[str, Errors | Unavailable]]:
    pairs = [("eager", tensor.eager), ("compiled", tensor.compiled)]
    known = [pair for pair in pairs if not isinstance(pair[1], Unavailable)]
    if len(known) < len(pairs) and not isinstance(tensor.between, Unavailable):
        return [*known, ("compiled to eager", tensor.between)]
    return pairs


def _cells(errors: Errors | Unavailable) -> dict[str, str]:
    if isinstance(errors, Unavailable):
        return {"max abs": "?"}
    return {
        "max abs": error(errors.max_abs),
        "max rel": error(errors.max_rel),
        "ULP": "" if errors.max_ulp is None else error(errors.max_ulp),
        "cosine": "" if errors.cosine is None else f"{errors.cosine:.7f}",
        "unequal": f"{errors.unequal:,}",
        "NaN": f"{errors.nan:,}" if errors.nan else "",
        "Inf": f"{errors.inf:,}" if errors.inf else "",
    }


def _fit(grid: Grid, width: int) -> None:
    left_out = []
    shrink(grid, "tensor", 24, width, shorten_middle)
    shrink(grid, "shape", 12, width)
    for name in _LEFT_OUT:
        if grid.width() > width and name in grid.columns:
            grid.drop(name)
            left_out.append(name)
    for name, least in (("tensor", 10), ("verdict", 8), ("of", 5)):
        shrink(grid, name, least, width, shorten_middle)
    if left_out:
        grid.legend.append(f"left out for the width: {', '.join(left_out)}")
