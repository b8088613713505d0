"""The command line as a module: ``python -m scarce.cli``."""

from . import main

main()
