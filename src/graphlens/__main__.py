"""``python -m graphlens`` is the ``graphlens`` command."""

from graphlens.cli.main import main

main()
