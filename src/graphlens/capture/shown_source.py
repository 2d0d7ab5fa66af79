"""Another text of a file as the one that tracebacks and reports quote."""

import io
import linecache
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def shown_source(texts: Mapping[str, str]) -> Iterator[None]:
    """Has lines of files quoted from other texts, while a rewritten copy of them runs.

    The copy's code has the lines of the new text: quoted from the old one, a break below a line
    that was added would stand at its neighbour's.

    Args:
        texts: The text to quote, by file.
    """
    kept = {file: linecache.cache.get(file) for file in texts}
    for file, text in texts.items():
        # Without a time it is not compared with the file on disk, nor read again from there.
        lines = io.StringIO(text).readlines()
        linecache.cache[file] = (len(text), None, lines, file)
    try:
        yield
    finally:
        for file, entry in kept.items():
            if entry is None:
                linecache.cache.pop(file, None)
            else:
                linecache.cache[file] = entry
