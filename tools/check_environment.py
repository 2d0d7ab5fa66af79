"""Fails clearly when an installation did not give the torch that was asked for.

    python tools/check_environment.py [RELEASE]

A package may pull another torch over a pinned one; tests would then pass on the wrong version.
"""

import importlib.util
import sys
from importlib.metadata import version

import torch


def main(wanted: str) -> int:
    problems = []
    if wanted and torch.__version__.partition("+")[0] != wanted:
        problems.append(f"torch {wanted} was asked for, but {torch.__version__} was installed")
    if torch.__version__.partition("+")[0] != version("torch").partition("+")[0]:
        problems.append(f"torch says it is {torch.__version__}, pip says {version('torch')}")
    if importlib.util.find_spec("torchvision"):
        try:
            importlib.import_module("torchvision")
        except (ImportError, RuntimeError) as error:
            problems.append(f"torchvision does not fit torch {torch.__version__}: {error}")
    for problem in problems:
        print(f"{problem}. Remove {sys.prefix} and install again.", file=sys.stderr)
    if not problems:
        print(f"Ready: torch {torch.__version__}, Python {sys.version.split()[0]}")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
