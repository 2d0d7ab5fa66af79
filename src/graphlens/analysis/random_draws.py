"""Which random tensors of a program Triton draws by four: one Philox block for four elements.

Kernels over one dimension do; others use the first word of a block for each element. Inductor names
the tensors in the comment above each kernel. Seen on torch 2.13 and 2.14; 2.11 never draws by four.
"""

import re

_KERNEL = re.compile(
    r"((?:^#[^\n]*\n)+)^\w+ = async_compile\.triton\('\w+', '''(.*?)'''", re.M | re.S
)
_RANDOM = re.compile(r"%(\w+) : [^\n]*target=torch\.ops\.prims\.inductor_random")
_BY_FOUR = re.compile(r"\brandn?4x\(")


def drawn_by_four(code: str) -> frozenset[str]:
    """Names of their nodes.

    Args:
        code: A program for a GPU.
    """
    return frozenset(
        name
        for comment, source in _KERNEL.findall(code)
        if _BY_FOUR.search(source)
        for name in _RANDOM.findall(comment)
    )
