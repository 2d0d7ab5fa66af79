"""What is known of a tensor without its values."""

from graphlens.model.base import Data

Dim = int | str
"""A size or stride: a number, or a symbolic expression such as ``s0`` or ``8*s0``."""


class TensorSpec(Data, frozen=True, kw_only=True):
    """What is known of a tensor without its values.

    Attributes:
        shape: One entry a dimension; symbolic sizes stay readable strings.
        dtype: Short torch name, such as ``float32``.
        stride: In elements, one entry a dimension; None where the layout has no strides.
        device: Such as ``cpu`` or ``cuda:0``.
        requires_grad: None where the source did not say.
    """

    shape: tuple[Dim, ...]
    dtype: str
    stride: tuple[Dim, ...] | None = None
    device: str = ""
    requires_grad: bool | None = None
