"""Scripts that are hostile in how they begin, live and end: versions, silence, exits, children."""

import os
import signal
import sys
import time

from hostile_wire import Server, script, text

VERSIONS = {"missing": None, "number": 20251125, "null": None, "empty": "", "list": ["2025-11-25"]}


@script("version")
class Version(Server):
    """Answers with the protocol version ARG, or one of: missing, number, null, empty, list."""

    def initialize(self, to, params):
        said = VERSIONS.get(self.args[0], self.args[0])
        answer = {"protocolVersion": said, "capabilities": {"tools": {}}}
        answer["serverInfo"] = {"name": "hostile", "version": "1.0.0"}
        if self.args[0] == "missing":
            del answer["protocolVersion"]
        self.reply(to, answer)


@script("handshake")
class Handshake(Server):
    """A malformed answer to initialize: ARG is no-tools, no-capabilities, no-info, not-object, empty."""

    def initialize(self, to, params):
        answer = {
            "protocolVersion": self.version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "hostile\x1b[31m", "version": "1.0.0"},
        }
        if self.args[0] == "no-tools":
            answer["capabilities"] = {"prompts": {}}
        elif self.args[0] == "no-capabilities":
            del answer["capabilities"]
        elif self.args[0] == "no-info":
            del answer["serverInfo"]
        elif self.args[0] == "long-instructions":
            answer["instructions"] = "i" * (1024 * 1024)
        self.reply(to, {"not-object": 7, "empty": {}}.get(self.args[0], answer))


class InPhase(Server):
    """Does `happen` in phase ARG: start, initialize, initialized, list, call, or end."""

    def happen(self):
        raise NotImplementedError

    def at(self, phase):
        if self.args[0] == phase:
            self.happen()

    def begin(self):
        self.at("start")

    def initialize(self, to, params):
        self.at("initialize")
        super().initialize(to, params)

    def initialized(self):
        self.at("initialized")

    def list(self, to, params):
        self.at("list")
        super().list(to, params)

    def call(self, to, params):
        self.at("call")
        super().call(to, params)

    def ended(self):
        self.at("end")


@script("silence")
class Silence(InPhase):
    """Says nothing any more from phase ARG on; goes when its stdin is closed."""

    def happen(self):
        while self.receive() is not None:
            pass
        sys.exit(0)


@script("exit")
class Exit(InPhase):
    """Exits with status ARG2 (default 3) in phase ARG, after a word on stderr."""

    def happen(self):
        os.write(2, b"hostile: the database is locked\n")
        os._exit(int(self.args[1]) if len(self.args) > 1 else 3)


@script("exit-after-half-a-line")
class ExitAfterHalf(InPhase):
    """Exits in phase ARG after half of an answer."""

    def happen(self):
        self.raw(b'{"jsonrpc":"2.0","id":1,"result":{"tools":[')
        os._exit(0)


@script("killed")
class Killed(InPhase):
    """Is killed by a signal in phase ARG."""

    def happen(self):
        os.kill(os.getpid(), signal.SIGKILL)


@script("stopped")
class Stopped(InPhase):
    """Stops itself in phase ARG, so that only SIGKILL can end it."""

    def happen(self):
        os.kill(os.getpid(), signal.SIGSTOP)


@script("exit-once")
class ExitOnce(Server):
    """Exits at a call unless the file ARG has as many bytes as ARG2 (default 1); adds one each time."""

    def call(self, to, params):
        with open(self.args[0], "ab") as file:
            if file.tell() < int(self.args[1] if len(self.args) > 1 else "1"):
                file.write(b".")
                file.flush()
                os._exit(3)
        self.reply(to, text(f"call {self.calls} of {os.getpid()}"))


@script("closes-stdout")
class ClosesStdout(InPhase):
    """Closes its stdout in phase ARG and lives on."""

    def happen(self):
        os.close(1)
        while os.read(0, 65536):
            pass
        time.sleep(3600)


def daemon(hold):
    """A process in a session of its own whose parent is gone; with `hold` it keeps our stdout open."""
    ready, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() > 0:
            os._exit(0)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        for fd in (0, 2) if hold else (0, 1, 2):
            os.close(fd)
        os.write(write, b"1")
        os.close(write)
        time.sleep(3600)
        os._exit(0)
    os.wait()
    os.close(write)
    os.read(ready, 1)
    os.close(ready)


@script("survivor")
class Survivor(InPhase):
    """Leaves ARG2 (default 1) daemons behind that hold its stdout open, made in phase ARG."""

    def happen(self):
        for _ in range(int(self.args[1]) if len(self.args) > 1 else 1):
            daemon(True)


@script("survivor-apart")
class SurvivorApart(InPhase):
    """The same, with daemons that hold nothing of it."""

    def happen(self):
        daemon(False)


@script("survivor-then-exit")
class SurvivorThenExit(InPhase):
    """Leaves a daemon that holds its stdout open and exits in phase ARG without an answer."""

    def happen(self):
        daemon(True)
        os._exit(3)


@script("ignores-eof")
class IgnoresEof(Server):
    """Lives on when its stdin is closed, until SIGTERM."""

    def ended(self):
        time.sleep(3600)


@script("ignores-sigterm")
class IgnoresSigterm(Server):
    """Lives on when its stdin is closed, and ignores SIGTERM."""

    def begin(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)

    def ended(self):
        while True:
            time.sleep(3600)


@script("ignores-sigterm-with-child")
class IgnoresSigtermWithChild(IgnoresSigterm):
    """The same, with a child in its own process group that does so too."""

    def initialized(self):
        if os.fork() == 0:
            while True:
                time.sleep(3600)


@script("slow")
class Slow(Server):
    """Answers a call after ARG milliseconds."""

    def call(self, to, params):
        time.sleep(int(self.args[0]) / 1000)
        super().call(to, params)


@script("surroundings")
class Surroundings(Server):
    """Answers a call with what it sees: its arguments, folder, environment, user and process."""

    def call(self, to, params):
        import json

        seen = {
            "argv": sys.argv,
            "cwd": os.getcwd(),
            "env": dict(os.environ),
            "uid": os.getuid(),
            "pid": os.getpid(),
            "fds": sorted(int(name) for name in os.listdir("/proc/self/fd")),
        }
        self.reply(to, {**text(json.dumps(seen, sort_keys=True)), "structuredContent": seen})
