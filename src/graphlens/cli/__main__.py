"""``python -m graphlens.cli`` is the ``graphlens`` command."""

from graphlens.cli.main import main

main()
