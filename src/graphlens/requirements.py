"""What GraphLens needs from outside, checked with one clear sentence."""

from importlib.metadata import PackageNotFoundError, version

from packaging.version import InvalidVersion, Version

from graphlens.errors import UnsupportedTorchError

OLDEST_TORCH = "2.11"


def require_torch() -> None:
    """Checks that a torch is installed that GraphLens can work with.

    Raises:
        UnsupportedTorchError: There is none, or it is too old.
    """
    try:
        found = Version(version("torch")).release
    except PackageNotFoundError:
        raise UnsupportedTorchError(
            f"GraphLens needs torch {OLDEST_TORCH} or newer, and none is installed. "
            "Install it with `pip install torch`."
        ) from None
    except InvalidVersion:
        return  # a build with a version of its own: its owner knows
    if found < Version(OLDEST_TORCH).release:
        raise UnsupportedTorchError(
            f"GraphLens needs torch {OLDEST_TORCH} or newer, and {version('torch')} is installed. "
            "Upgrade it with `pip install --upgrade torch`."
        )
