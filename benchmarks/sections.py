"""Results in a Markdown file, between marks, and the machine they are from."""

import os
import platform
from pathlib import Path


def with_section(text: str, section: str, begin: str, end: str) -> str:
    """A text with what stands between two marks replaced; at its end where it has none."""
    made = f"{begin}\n\n{section.strip()}\n\n{end}"
    before, mark, rest = text.partition(begin)
    if not mark:
        return f"{text.rstrip()}\n\n{made}\n"
    return before + made + rest.partition(end)[2]


def machine() -> str:
    """Python, architecture, cores and processor."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    processor = names[0] if names else platform.processor()
    cores = os.cpu_count()
    return f"Python {platform.python_version()}, {platform.machine()}, {cores} cores ({processor})"
