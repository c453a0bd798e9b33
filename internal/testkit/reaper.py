"""Runs a program and tells what it left behind: `reaper.py REPORT MARK SECONDS PROGRAM [ARGUMENT...]`.

It is to the program what process 1 is: orphans become its children and are reaped while the program
runs. When the program has ended, whatever still lives below it, or anywhere with MARK in its
environment or arguments, was left behind. That is written to REPORT with the status, the time and the
most memory that the program or one of its own children held. What lives below it is then killed; what
only has the mark never is, because a text in an environment is no proof of whose a process is.
"""

import ctypes
import json
import os
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
# What was killed a moment ago is not left behind; it has this long to be gone.
GRACE_SECONDS = 0.3
# A shorter one would be found in processes that have nothing to do with it.
MARK_CHARACTERS_MIN = 16


def read(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def alive():
    """The parent of every process but zombies, by pid."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        # The command in parentheses may have any character in it, also a parenthesis.
        fields = read(pid, "stat").rpartition(b")")[2].split()
        if len(fields) > 1 and fields[0] not in b"ZX":
            found[int(pid)] = int(fields[1])
    return found


def own(parents):
    """We and those that started us, in whose arguments the mark may be too."""
    line = {os.getpid()}
    pid = os.getpid()
    while pid := parents.get(pid, 0):
        line.add(pid)
    return line


def below(parents):
    """Our descendants, which orphans of the program are too."""
    found = {os.getpid()}
    for _ in parents:
        grown = found | {pid for pid, parent in parents.items() if parent in found}
        if grown == found:
            break
        found = grown
    return found - {os.getpid()}


def left(mark):
    parents = alive()
    marked = {
        pid
        for pid in parents
        if mark in read(pid, "environ") or mark in read(pid, "cmdline").replace(b"\0", b" ")
    }
    return sorted((below(parents) | marked) - own(parents))


def reap(pid, deadline):
    """Reaps until the program ends; past the deadline kills it."""
    late = False
    while True:
        done, status, usage = os.wait4(-1, os.WNOHANG)
        if done == pid:
            return status, usage, late
        if done == 0:
            if time.monotonic() > deadline and not late:
                late = True
                os.kill(pid, signal.SIGKILL)
            # Blocked, so that it waits here however early it came; often enough for the deadline.
            signal.sigtimedwait([signal.SIGCHLD], 0.1)


def end_descendants():
    """Again and again, since what is killed may just have started another."""
    while rest := below(alive()):
        for one in rest:
            try:
                os.kill(one, signal.SIGKILL)
            except ProcessLookupError:
                # It ended by itself meanwhile.
                pass
        time.sleep(0.005)


def main():
    report, mark, seconds, *argv = sys.argv[1:]
    if len(mark) < MARK_CHARACTERS_MIN:
        sys.exit(f"reaper: mark {mark!r} is shorter than {MARK_CHARACTERS_MIN} characters")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    begun = time.monotonic()
    pid = os.posix_spawn(argv[0], argv, os.environ, setsigmask=[])
    status, usage, late = reap(pid, begun + float(seconds))
    took = time.monotonic() - begun
    until = time.monotonic() + GRACE_SECONDS
    while (rest := left(mark.encode())) and time.monotonic() < until:
        time.sleep(0.01)
    said = {
        "exit": os.waitstatus_to_exitcode(status),
        "late": late,
        "seconds": took,
        "peakKib": usage.ru_maxrss,
        "left": [f"{one} {read(one, 'cmdline').replace(bytes(1), b' ').decode()}" for one in rest],
    }
    with open(report, "w") as file:
        json.dump(said, file)
    end_descendants()


main()
