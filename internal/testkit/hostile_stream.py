"""Scripts that are hostile to whoever reads lines: noise, halves, floods and lines without an end."""

import json
import os
import sys
import threading
import time

from hostile_wire import Server, script

MIB = 1024 * 1024

NOISE = [
    b"Server running on stdio\n",
    b"\n",
    b"   \n",
    b"{\n",
    b"}\n",
    b'{"jsonrpc":"2.0"\n',
    b"7\n",
    b"null\n",
    b'"text"\n',
    b"true\n",
    b"{}\n",
    b"\x00\x01\x02\n",
    b"\xff\xfe\n",
    b"\x1b[31mred\x1b[0m\n",
    b"\xef\xbb\xbfbom\n",
    b'{"jsonrpc":"1.0","method":"notifications/message"}\n',
    b'{"method":"x"}\n',
]


@script("noise")
class Noise(Server):
    """Lines that are no messages before each answer."""

    def make_noise(self):
        for line in NOISE:
            self.raw(line)

    def begin(self):
        self.make_noise()

    def initialize(self, to, params):
        self.make_noise()
        super().initialize(to, params)

    def list(self, to, params):
        self.make_noise()
        super().list(to, params)

    def call(self, to, params):
        self.make_noise()
        super().call(to, params)


@script("noise-for-ever")
class NoiseForEver(Server):
    """Lines that are no messages, without an end and instead of the list."""

    def list(self, to, params):
        block = b"Server running on stdio\n" * 4096
        while True:
            self.raw(block)


@script("half-lines")
class HalfLines(Server):
    """Every message a byte at a time, also through the middle of a character."""

    def send(self, message):
        line = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        for index in range(len(line)):
            self.raw(line[index : index + 1])
            if index % 16 == 0:
                time.sleep(0.001)

    def tools(self):
        return [{"name": "echo", "description": "\u00e4\u6f22\U0001f600", "inputSchema": {"type": "object"}}]


@script("carriage-returns")
class CarriageReturns(Server):
    """Lines end as they do on another system."""

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\r\n")


@script("two-in-one-write")
class TwoInOneWrite(Server):
    """Several messages and noise in one write."""

    def send(self, message):
        other = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n'
        self.raw(other + b"noise\n" + json.dumps(message).encode() + b"\n" + other)


@script("two-on-one-line")
class TwoOnOneLine(Server):
    """The list and a second message on one line, which is no line of JSON."""

    def list(self, to, params):
        one = json.dumps({"jsonrpc": "2.0", "id": to, "result": {"tools": self.tools()}}).encode()
        self.raw(one + one + b"\n")


@script("no-newline")
class NoNewline(Server):
    """ARG MiB without a newline, default 100, instead of the answer in phase ARG2 (default list)."""

    def flood(self, phase):
        if (self.args[1] if len(self.args) > 1 else "list") != phase:
            return False
        block = b"x" * 65536
        for _ in range(int(self.args[0] if self.args else "100") * 16):
            self.raw(block)
        return True

    def initialize(self, to, params):
        if not self.flood("initialize"):
            super().initialize(to, params)

    def list(self, to, params):
        if not self.flood("list"):
            super().list(to, params)

    def call(self, to, params):
        if not self.flood("call"):
            super().call(to, params)


@script("stderr-flood")
class StderrFlood(Server):
    """ARG MiB to stderr, default 50, before the list, half of them without a newline."""

    def list(self, to, params):
        line = (b"x" * 1023 + b"\n") * 64
        for index in range(int(self.args[0] if self.args else "50") * 16):
            os.write(2, line if index % 2 else b"y" * 65536)
        super().list(to, params)


@script("stderr-for-ever")
class StderrForEver(Server):
    """Stderr without an end beside a server that answers."""

    def begin(self):
        def flood():
            try:
                while True:
                    os.write(2, b"noise on stderr\n" * 4096)
            except OSError:
                pass

        threading.Thread(target=flood, daemon=True).start()


@script("stderr-escapes")
class StderrEscapes(Server):
    """Terminal control sequences and bytes that are no text on stderr; then exit before the answer."""

    def initialize(self, to, params):
        os.write(2, b"\x1b[2J\x1b]0;owned\x07\xff\xfe\x00cannot open the database\n")
        sys.exit(3)


@script("notifications-flood")
class NotificationsFlood(Server):
    """ARG notifications, default 100,000, before the list."""

    def list(self, to, params):
        one = {"level": "info", "logger": "hostile", "data": "x" * 100}
        message = {"jsonrpc": "2.0", "method": "notifications/message", "params": one}
        block = (json.dumps(message).encode() + b"\n") * 1000
        for _ in range(int(self.args[0] if self.args else "100000") // 1000):
            self.raw(block)
        super().list(to, params)


@script("notifications-for-ever")
class NotificationsForEver(Server):
    """Notifications without an end instead of the list."""

    def list(self, to, params):
        block = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n'
        while True:
            self.raw(block * 1000)


@script("notifications-unknown")
class NotificationsUnknown(Server):
    """Notifications that nobody has heard of and some that are malformed, before each answer."""

    def send(self, message):
        for odd in ("notifications/no-such", "notifications/progress", "notifications/cancelled", ""):
            self.raw(json.dumps({"jsonrpc": "2.0", "method": odd, "params": {}}).encode() + b"\n")
        super().send(message)


@script("requests-for-ever")
class RequestsForEver(Server):
    """Pings without an end, whose answers it never reads, instead of the list."""

    def list(self, to, params):
        number = 0
        while True:
            block = b""
            for _ in range(1000):
                number += 1
                block += b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % number
            self.raw(block)


@script("deaf")
class Deaf(Server):
    """Reads nothing after the list, so that a long call is never taken."""

    def list(self, to, params):
        super().list(to, params)
        time.sleep(3600)
