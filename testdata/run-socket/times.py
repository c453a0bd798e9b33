"""Times answers of a capability socket from inside of a run, against a bare echo and a bare disk.

times.py ROUNDS: prints one JSON object with the median milliseconds of each kind of request.
"""

import json
import os
import socket
import statistics
import sys
import time

rounds = int(sys.argv[1])
own = {name: os.environ["CTX_" + name] for name in ("AGENT", "SESSION", "RUN_ID")}


class Lines:
    def __init__(self, peer):
        self.peer = peer
        self.rest = b""

    def ask(self, data):
        begun = time.perf_counter()
        self.peer.sendall(data)
        while b"\n" not in self.rest:
            chunk = self.peer.recv(65536)
            if not chunk:
                raise SystemExit("the socket closed")
            self.rest += chunk
        line, self.rest = self.rest.split(b"\n", 1)
        return (time.perf_counter() - begun) * 1000, line


def request(op, n, **more):
    return json.dumps({"op": op, "request_id": f"{op}-{os.getpid()}-{n}", **more}).encode() + b"\n"


def update(n):
    names = {"agent": own["AGENT"], "session": own["SESSION"], "run": own["RUN_ID"]}
    return request("agent.update", n, **names, control="system.md", content=f"Round {n}.\n")


def authorize(n):
    return request("tool.authorize", n, name="fs.read", args={"path": "a"})


def connected(path):
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    peer.connect(path)
    return Lines(peer)


def echoing():
    """A process that sends each line back."""
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    if os.fork() == 0:
        mine.close()
        while True:
            chunk = theirs.recv(65536)
            if not chunk:
                os._exit(0)
            theirs.sendall(chunk)
    theirs.close()
    return Lines(mine)


class Disk:
    """What an update must do to the disk: a record that lasts, and a file that is replaced."""

    def __init__(self, folder):
        self.name = folder + "/.times"
        self.folder = os.open(folder, os.O_RDONLY)
        self.log = os.open(self.name + ".log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def ask(self, data):
        begun = time.perf_counter()
        os.write(self.log, data)
        os.fdatasync(self.log)
        fresh = os.open(self.name + ".new", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.write(fresh, data)
        os.fsync(fresh)
        os.close(fresh)
        os.rename(self.name + ".new", self.name)
        os.fsync(self.folder)
        return (time.perf_counter() - begun) * 1000, b""


host = connected(os.environ["CTX_CONTROL_SOCKET"])
echo = echoing()
disk = Disk("/workspace")
times = {"echo": [], "disk": [], "authorize": [], "update": []}
for n in range(-5, rounds):
    for name, lines, data in (
        ("echo", echo, authorize(n)),
        ("disk", disk, update(n)),
        ("authorize", host, authorize(n)),
        ("update", host, update(n)),
    ):
        taken, line = lines.ask(data)
        if lines is host and json.loads(line).get("ok") is not True:
            raise SystemExit(line.decode())
        if n >= 0:
            times[name].append(taken)
print(json.dumps({name: statistics.median(taken) for name, taken in times.items()}))
