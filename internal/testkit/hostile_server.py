#!/usr/bin/env python3
"""A hostile MCP server: `hostile_server.py SCRIPT [ARGUMENT...]`, or `--list` for what there is.

Every way of being hostile is a script of its own with a name. To bring it elsewhere, take all files
`hostile_*.py` of this folder along.
"""

import sys

# Before the other files are read: a test leaves nothing beside them, only where it was told to.
sys.dont_write_bytecode = sys.pycache_prefix is None

import hostile_lists  # noqa: E402, F401
import hostile_life  # noqa: E402, F401
import hostile_names  # noqa: E402, F401
import hostile_replies  # noqa: E402, F401
import hostile_results  # noqa: E402, F401
import hostile_stream  # noqa: E402, F401
from hostile_wire import SCRIPTS  # noqa: E402


def main():
    if sys.argv[1:2] == ["--list"]:
        for name, cls in sorted(SCRIPTS.items()):
            print(f"{name}\t{(cls.__doc__ or '').strip().splitlines()[0]}")
        return
    if len(sys.argv) < 2 or sys.argv[1] not in SCRIPTS:
        sys.exit(f"hostile_server: no script {' '.join(sys.argv[1:2])!r}; see --list")
    try:
        SCRIPTS[sys.argv[1]](sys.argv[2:]).serve()
    except BrokenPipeError:
        # The client is gone, which is a decent end.
        pass


main()
