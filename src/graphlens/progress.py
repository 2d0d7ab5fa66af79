"""A progress bar on long work, where a person looks at it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

_FORMAT = "{desc} {percentage:3.0f}%|{bar}| {elapsed}"


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float], None]]:
    """A function to tell what is going on and the share that is done, from 0 to 1.

    Nothing is shown where standard error is no terminal.
    """
    with tqdm(
        total=1.0, bar_format=_FORMAT, leave=False, file=sys.stderr, disable=not sys.stderr.isatty()
    ) as bar:

        def tell(what: str, share: float) -> None:
            bar.set_description_str(what[:60], refresh=False)
            bar.n = max(bar.n, min(share, 1.0))
            bar.refresh()

        yield tell
