// What `ctxterm --help` prints.

export const help = `Usage: ctxterm --listen SOCKET [--cols N] [--rows N] [--record FILE] [-- COMMAND...]

Runs COMMAND (tsh without one) in a pseudo-terminal of its own and serves it on SOCKET until COMMAND
ends; the exit status is COMMAND's, 128 and the number for a signal. Clients come and go: the first
line "watch" or "attach" gives the screen as it is and then the terminal's bytes, "watch/1" and
"attach/1" the same in frames, with sizes and the exit status. A client that stops reading is let go
and slows nobody down. Only the owner of the process may join.

Options:
  --listen SOCKET  Path of the socket; its folder must be the owner's. SOCKET.lock lies beside it
  --listen-fd N    A socket that listens already, handed in as descriptor N
  --cols N         Columns until a client says how large it is (80)
  --rows N         Rows until then (24)
  --record FILE    Keep what happens as JSON lines, at most 64 MiB and one older file; - hands
                   it out on standard output, for another program to keep
  --version, --help

A hang-up is ignored; SIGTERM and Ctrl-C end COMMAND (SIGHUP, after 2 s SIGKILL).

Example:
  ctxterm --listen ~/.work.sock -- bash
`;
