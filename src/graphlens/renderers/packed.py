"""Data for a page's script, compressed or plain, that no character in it can break out of."""

import json
import struct
import zlib
from base64 import b64encode
from typing import Any

_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"  # no time, no name, no system


def packed(data: Any, compress: bool = True) -> str:
    """Text that may stand between the tags of a script block.

    Args:
        data: For JSON.
        compress: Whether it is base64 of gzip; else it is JSON.
    """
    text = json.dumps(data, ensure_ascii=not compress, separators=(",", ":"))
    if not compress:
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return b64encode(gzipped(text.encode("utf-8", errors="backslashreplace"))).decode("ascii")


def gzipped(data: bytes) -> bytes:
    """The data as a gzip file, with the same header on every system."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = deflate.compress(data) + deflate.flush()
    return _HEADER + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
