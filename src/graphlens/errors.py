"""One family of errors. Each says what failed, where, and the next step."""


class GraphLensError(Exception):
    """Base of every error GraphLens raises on purpose.

    Attributes:
        exit_code: What the command line exits with.
    """

    exit_code = 2


class UsageError(GraphLensError):
    """An option, target or argument is wrong."""


class OutputError(GraphLensError):
    """A file or folder cannot be written, or its format is unknown."""


class ReportFormatError(GraphLensError):
    """A file is not a report this version can read."""


class UnsupportedTorchError(GraphLensError):
    """Torch is missing or too old."""


class MissingCompilerError(GraphLensError):
    """A compiler that the inner backend needs is not there."""


class UserProgramError(GraphLensError):
    """The user's own program raised."""

    exit_code = 3
