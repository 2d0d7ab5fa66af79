"""Expected outputs kept as files under tests/golden/."""

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
UPDATE = "GRAPHLENS_UPDATE_GOLDEN"


def check_golden(name: str, text: str) -> None:
    """Compares text, byte for byte, with tests/golden/<name>.

    With GRAPHLENS_UPDATE_GOLDEN=1 in the environment the file is written instead; look at the
    difference in git before committing it.
    """
    path = GOLDEN / name
    got = text.encode("utf-8")
    if os.environ.get(UPDATE) == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(got)
        return
    assert path.exists(), f"{path} is missing; run the test with {UPDATE}=1 and look at the file"
    expected = path.read_bytes()
    if got != expected:  # decoded, so that pytest shows the lines that differ
        assert text == expected.decode("utf-8"), f"{name} changed; {UPDATE}=1 rewrites it"
