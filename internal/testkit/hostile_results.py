"""Scripts whose results of a call are hostile or merely of every kind that there is."""

import base64
import json

from hostile_wire import Server, script, text, tool

MIB = 1024 * 1024

# The smallest PNG and the head of a WAV file, so that a reader who looks inside finds what was said.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"


def encoded(data):
    return base64.b64encode(data).decode()


def content(*parts):
    return {"content": list(parts)}


def image(data, mime="image/png"):
    return {"type": "image", "data": data, "mimeType": mime}


RESULTS = {
    "text": text("hello"),
    "text-empty": text(""),
    "text-unicode": text("\u00e4 \u6f22 \U0001f600 \u202e e\u0301"),
    "text-controls": text("a\x1b[31mred\x07\x00\r\nb\tc\x7f\u009b"),
    "text-surrogate": text("a\ud800b"),
    "texts": content(*({"type": "text", "text": f"part {n}"} for n in range(3))),
    "none": content(),
    "image": content(image(encoded(PNG))),
    "image-empty": content(image("")),
    "image-not-base64": content(image("%%%")),
    "image-without-data": content({"type": "image", "mimeType": "image/png"}),
    "image-odd-type": content(image(encoded(PNG), "../../../etc/cron.d/x\n")),
    "audio": content({"type": "audio", "data": encoded(WAV), "mimeType": "audio/wav"}),
    "link": content(
        {
            "type": "resource_link",
            "uri": "file:///etc/passwd",
            "name": "passwd",
            "title": "Users",
            "description": "All of them",
            "mimeType": "text/plain",
        }
    ),
    "resource-text": content(
        {"type": "resource", "resource": {"uri": "demo:///1", "mimeType": "text/plain", "text": "in"}}
    ),
    "resource-blob": content(
        {"type": "resource", "resource": {"uri": "demo:///2", "mimeType": "image/png", "blob": encoded(PNG)}}
    ),
    "resource-empty": content({"type": "resource", "resource": {"uri": "demo:///3"}}),
    "resource-missing": content({"type": "resource"}),
    "annotations": content(
        {"type": "text", "text": "for you", "annotations": {"audience": ["user"], "priority": 1}}
    ),
    "mixed": content({"type": "text", "text": "see"}, image(encoded(PNG)), {"type": "text", "text": "end"}),
    "unknown-type": content({"type": "hologram", "data": "x"}, {"type": "text", "text": "known"}),
    "type-missing": content({"text": "which?"}),
    "type-prototype": content({"type": "__proto__", "text": "x"}, {"type": "constructor"}),
    "part-null": content(None, {"type": "text", "text": "after"}),
    "part-text": content("bare text"),
    "text-number": content({"type": "text", "text": 7}),
    "meta": {**text("with meta"), "_meta": {"secret": "of the server"}},
    "meta-inside": content({"type": "text", "text": "with meta", "_meta": {"secret": "inside"}}),
    "is-error": {**text("it failed"), "isError": True},
    "is-error-silent": {"content": [], "isError": True},
    "is-error-text": {**text("odd"), "isError": "yes"},
    "content-missing": {},
    "content-null": {"content": None},
    "content-text": {"content": "bare"},
    "content-object": {"content": {"type": "text", "text": "x"}},
    "result-null": None,
    "result-text": "done",
    "result-list": [{"type": "text", "text": "x"}],
    "structured": {**text('{"n": 1}'), "structuredContent": {"n": 1}},
    "structured-alone": {"structuredContent": {"n": 1}},
    "structured-list": {**text("list"), "structuredContent": [1, 2]},
    "structured-keys": {
        **text("keys"),
        "structuredContent": {"__proto__": {"polluted": True}, "constructor": 1, "n": 1},
    },
    "task": {"task": {"taskId": "1", "status": "working"}},
    "unknown-fields": {**text("more"), "later": {"version": 9}},
}

# Made when they are asked for: a server that starts slowly makes every test slow.
LARGE_RESULTS = {
    "texts-many": lambda: content(*({"type": "text", "text": "x"} for n in range(100_000))),
    "image-large": lambda: content(image(encoded(b"\x89PNG" + b"i" * (8 * MIB)))),
    "images-many": lambda: content(*(image(encoded(PNG)) for n in range(1000))),
}

OUTPUT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

# With an output schema: what the tool promised and what it gives.
PROMISED = {
    "kept": {**text("1"), "structuredContent": {"n": 1}},
    "wrong-type": {**text("kept text"), "structuredContent": {"n": "one"}},
    "missing-key": {**text("kept text"), "structuredContent": {}},
    "missing": text("kept text"),
    "missing-in-error": {**text("it failed"), "isError": True},
    "wrong-in-error": {**text("it failed"), "isError": True, "structuredContent": {"n": "one"}},
}


@script("result")
class Result(Server):
    """The result of a call that ARG names; with `all` the argument `kind` of each call names it."""

    def call(self, to, params):
        kind = self.args[0] if self.args[0] != "all" else params["arguments"]["kind"]
        large = LARGE_RESULTS.get(kind)
        self.reply(to, large() if large else RESULTS[kind])


@script("result-with-schema")
class ResultWithSchema(Server):
    """The tool has an output schema; ARG names what it gives."""

    def tools(self):
        return [tool("echo", outputSchema=OUTPUT)]

    def call(self, to, params):
        self.reply(to, PROMISED[self.args[0]])


@script("output-schema")
class OutputSchema(Server):
    """An output schema of the kind ARG: broken, ref-loop, draft-07, slow, text."""

    def tools(self):
        kinds = {
            "broken": {"type": "object", "properties": {"n": {"type": "nonsense"}}},
            "ref-loop": {"type": "object", "properties": {"n": {"$ref": "#/properties/n"}}},
            "draft-07": {"$schema": "http://json-schema.org/draft-07/schema#", **OUTPUT},
            # A pattern that takes 2^40 steps to say that the value below does not match.
            "slow": {"type": "object", "properties": {"s": {"pattern": "^(a+)+$"}}},
            "text": "object",
        }
        return [tool("echo", outputSchema=kinds[self.args[0]])]

    def call(self, to, params):
        given = {"n": 1, **({"s": "a" * 40 + "!"} if self.args[0] == "slow" else {})}
        self.reply(to, {**text("kept text"), "structuredContent": given})


@script("result-large")
class ResultLarge(Server):
    """A text of ARG MiB, default 20."""

    def call(self, to, params):
        self.raw(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % to)
        block = b"0123456789abcdef" * 4096
        for _ in range(int(self.args[0] if self.args else "20") * 16):
            self.raw(block)
        self.raw(b'"}]}}\n')


@script("result-not-utf8")
class ResultNotUtf8(Server):
    """A text with bytes that are no UTF-8."""

    def call(self, to, params):
        one = b'{"type":"text","text":"a\xff\xc3(\xed\xa0\x80b"}'
        self.raw(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[%s]}}\n' % (to, one))


@script("result-deep")
class ResultDeep(Server):
    """structuredContent of ARG levels, default 100,000."""

    def call(self, to, params):
        levels = int(self.args[0] if self.args else "100000")
        deep = b'{"a":' * levels + b"1" + b"}" * levels
        head = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":' % to
        self.raw(head + deep + b"}}\n")


@script("result-with-keys-of-the-prototype")
class ResultKeys(Server):
    """Keys of the prototype at every level of the message."""

    def call(self, to, params):
        part = json.dumps({"type": "text", "text": "clean"})[:-1] + ',"__proto__":{"text":"polluted"}}'
        line = (
            '{"jsonrpc":"2.0","id":%d,"__proto__":{"isError":true},"result":{"content":[%s],'
            '"__proto__":{"isError":true},"constructor":{"prototype":{"isError":true}}}}\n'
        )
        self.raw((line % (to, part)).encode())
