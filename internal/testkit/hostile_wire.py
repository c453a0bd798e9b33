"""What every script of the hostile MCP server stands on: a decent server over stdin and stdout.

A script is a subclass that overrides the phase in which it is hostile, so that everything else about
it is right and the client's answer can be due to that alone. It uses nothing but the standard library
and one thread, because it has to run inside of a sandbox that has /usr and its own folder only.

What the client says is appended to the file HOSTILE_LOG names, a line for each message, for tests
that look at the client's manners.
"""

import json
import os
import sys
from collections import deque

SCRIPTS = {}


def script(name):
    """Registers a class as the script of this name; its docstring is what `--list` tells of it."""

    def register(cls):
        assert name not in SCRIPTS, name
        SCRIPTS[name] = cls
        return cls

    return register


def tool(name, **fields):
    return {"name": name, "description": f"Tool {name}", "inputSchema": {"type": "object"}, **fields}


def text(value):
    return {"content": [{"type": "text", "text": value}]}


class Server:
    version = "2025-11-25"
    capabilities = {"tools": {"listChanged": True}}

    def __init__(self, args):
        self.args = args
        self.calls = 0
        self.lists = 0
        self.asked = 0
        self.unread = b""
        self.waiting = deque()
        self.log = os.environ.get("HOSTILE_LOG")

    # The wire.

    def raw(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def reply(self, to, result):
        self.send({"jsonrpc": "2.0", "id": to, "result": result})

    def refuse(self, to, code, message, **more):
        self.send({"jsonrpc": "2.0", "id": to, "error": {"code": code, "message": message, **more}})

    def notify(self, method, **params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def receive(self):
        """The next message of the client, or None at its end."""
        pieces = [self.unread]
        # Only what is new is looked through: a line may have megabytes.
        while b"\n" not in pieces[-1]:
            data = os.read(0, 65536)
            if not data:
                return None
            pieces.append(data)
        line, self.unread = b"".join(pieces).split(b"\n", 1)
        if self.log:
            with open(self.log, "ab") as log:
                log.write(line + b"\n")
        return json.loads(line)

    def ask(self, method, **params):
        """Sends a request and returns the client's reply; what comes before it is kept for later."""
        self.asked += 1
        asked = f"ask-{self.asked}"
        self.send({"jsonrpc": "2.0", "id": asked, "method": method, "params": params})
        while True:
            message = self.receive()
            if message is None:
                sys.exit(0)
            if message.get("id") == asked and "method" not in message:
                return message
            self.waiting.append(message)

    # The phases, each of which a script may override.

    def tools(self):
        return [tool("echo"), tool("add")]

    def begin(self):
        """Before anything was read."""

    def initialize(self, to, params):
        info = {"name": "hostile", "version": "1.0.0"}
        answer = {"protocolVersion": self.version, "capabilities": self.capabilities, "serverInfo": info}
        self.reply(to, answer)

    def initialized(self):
        """After the client has said that it is ready."""

    def list(self, to, params):
        self.reply(to, {"tools": self.tools()})

    def call(self, to, params):
        self.reply(to, text(json.dumps(params.get("arguments"), sort_keys=True)))

    def cancelled(self, params):
        """The client gave a request up."""

    def ended(self):
        """After the client has closed its side."""

    def serve(self):
        self.begin()
        while True:
            message = self.waiting.popleft() if self.waiting else self.receive()
            if message is None:
                return self.ended()
            self.handle(message)

    def handle(self, message):
        method, to, params = message.get("method"), message.get("id"), message.get("params") or {}
        if method == "initialize":
            self.initialize(to, params)
        elif method == "notifications/initialized":
            self.initialized()
        elif method == "notifications/cancelled":
            self.cancelled(params)
        elif method == "tools/list":
            self.lists += 1
            self.list(to, params)
        elif method == "tools/call":
            self.calls += 1
            self.call(to, params)
        elif method == "ping":
            self.reply(to, {})
        elif method is not None and to is not None:
            self.refuse(to, -32601, "Method not found")


@script("plain")
class Plain(Server):
    """A server with nothing wrong: two tools that answer with their arguments."""
