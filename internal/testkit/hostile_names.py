"""Scripts whose descriptions of tools are hostile: names, texts and schemas."""

from hostile_wire import Server, script, tool

MIB = 1024 * 1024

# Each kind of name that no object can have, and two that it can.
ILLEGAL_NAMES = [
    "",
    " ",
    "a b",
    "a/b",
    "../../etc/passwd",
    "/etc/passwd",
    "..",
    "ends.d",
    "ends.sock",
    "line\nfeed",
    "nul\0byte",
    "esc\x1b[2J",
    "right\u202eleft",
    "\u00e4",
    "\U0001f4a9",
    "\ud800",
    "a:b",
    "a,b",
    "a*",
    "a'b",
    "$(id)",
    "`id`",
    "x" * 65,
    "x" * 1000,
]


class WithTools(Server):
    """Lists what the class has as `listed`."""

    listed = []

    def tools(self):
        return self.listed


@script("same-name-twice")
class SameNameTwice(WithTools):
    """Two tools of one name on one page."""

    listed = [tool("echo"), tool("add"), tool("echo", description="the other")]


@script("same-name-on-two-pages")
class SameNameOnTwoPages(Server):
    """Two tools of one name on different pages."""

    def list(self, to, params):
        if "cursor" in params:
            self.reply(to, {"tools": [tool("echo", description="the other")]})
        else:
            self.reply(to, {"tools": [tool("echo")], "nextCursor": "2"})


@script("illegal-names")
class IllegalNames(WithTools):
    """Names of every illegal kind between two good ones."""

    listed = [tool("first"), *(tool(name) for name in ILLEGAL_NAMES), tool("-dash"), tool("last")]


@script("names-of-other-types")
class NamesOfOtherTypes(WithTools):
    """No name, null, a number, a list; then a good one."""

    listed = [
        {"inputSchema": {"type": "object"}},
        *({"name": name, "inputSchema": {"type": "object"}} for name in (None, 7, ["a"], {})),
        tool("last"),
    ]


@script("names-of-the-prototype")
class NamesOfThePrototype(WithTools):
    """Names and keys that a JavaScript object has already."""

    listed = [
        *(tool(name) for name in ("constructor", "toString", "hasOwnProperty", "valueOf")),
        tool("__proto__"),
        tool(
            "keys",
            inputSchema={
                "type": "object",
                "__proto__": {"polluted": True},
                "properties": {"__proto__": {"type": "string"}, "constructor": {"type": "string"}},
            },
        ),
    ]


@script("tools-that-are-none")
class ToolsThatAreNone(WithTools):
    """A list with null, a number, a text and a list in it."""

    listed = [tool("first"), None, 7, "echo", [], tool("last")]


@script("descriptions")
class Descriptions(WithTools):
    """Descriptions with escapes, of 1 MiB, of other types, and none."""

    listed = [
        tool("escapes", description="a\x1b[31mred\x07\x00\r\nX\u202e"),
        tool("long", description="d" * MIB),
        tool("none"),
        tool("title", title="A title\x1b[0m"),
    ]
    del listed[2]["description"]


@script("descriptions-of-other-types")
class DescriptionsOfOtherTypes(WithTools):
    """A description that is a number."""

    listed = [tool("number", description=7)]


SCHEMAS = {
    "draft-07": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"n": {"type": "integer", "minimum": 1}},
        "properties": {"n": {"$ref": "#/definitions/n"}},
        "required": ["n"],
    },
    "draft-04": {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "http://example.com/root",
        "properties": {"n": {"type": "integer", "minimum": 1, "exclusiveMinimum": True}},
    },
    "draft-06": {
        "$schema": "http://json-schema.org/draft-06/schema#",
        "properties": {"n": {"const": 1}},
    },
    "draft-2019-09": {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$defs": {"n": {"type": "integer"}},
        "properties": {"n": {"$ref": "#/$defs/n", "minimum": 1}},
    },
    "draft-2020-12": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"n": {"type": "array", "prefixItems": [{"type": "integer"}]}},
    },
    "dialect-unknown": {"$schema": "https://example.com/no-such-dialect"},
    "dialect-number": {"$schema": 7},
    "ref-loop": {"$ref": "#"},
    "ref-loop-of-two": {
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        "properties": {"n": {"$ref": "#/$defs/a"}},
    },
    "ref-recursive": {"properties": {"child": {"$ref": "#"}, "n": {"type": "integer"}}},
    "ref-nowhere": {"properties": {"n": {"$ref": "#/$defs/none"}}},
    "ref-remote": {"properties": {"n": {"$ref": "http://127.0.0.1:9/schema.json"}}},
    "ref-file": {"properties": {"n": {"$ref": "file:///etc/passwd"}}},
    "ids-twice": {"$defs": {"a": {"$id": "http://x/y"}, "b": {"$id": "http://x/y"}}},
    "type-unknown": {"properties": {"n": {"type": "nonsense"}}},
    "pattern-broken": {"properties": {"n": {"type": "string", "pattern": "(["}}},
    "pattern-slow": {"properties": {"n": {"type": "string", "pattern": "^(a+)+$"}}},
    "keyword-unknown": {"x-own": True, "properties": {"n": {"type": "integer", "x-own": 1}}},
}


def large_schema():
    """5 MiB, made when it is asked for."""
    return {"properties": {f"p{i}": {"description": "x" * 1000} for i in range(5 * 1024)}}


@script("schema")
class Schema(Server):
    """One tool `echo` whose input schema is the one that ARG names."""

    def tools(self):
        one = large_schema() if self.args[0] == "large" else SCHEMAS[self.args[0]]
        return [tool("echo", inputSchema={"type": "object", **one})]


@script("schema-of-another-type")
class SchemaOfAnotherType(WithTools):
    """A good tool beside some whose input schema is ARG: text, list, null, true, missing, no-object."""

    def tools(self):
        value = {"text": "object", "list": [], "null": None, "true": True, "missing": 0,
                 "no-object": {"type": "string"}, "no-type": {}}[self.args[0]]
        odd = tool("odd", inputSchema=value)
        if self.args[0] == "missing":
            del odd["inputSchema"]
        return [tool("first"), odd]


@script("schema-deep")
class SchemaDeep(Server):
    """A schema of ARG levels, default 100,000."""

    def list(self, to, params):
        levels = int(self.args[0] if self.args else "100000")
        deep = b'{"properties":{"a":' * levels + b"{}" + b"}}" * levels
        schema = b'{"type":"object","properties":{"a":' + deep + b"}}"
        one = b'{"name":"echo","inputSchema":' + schema + b"}"
        self.raw(b'{"jsonrpc":"2.0","id":%d,"result":{"tools":[%s]}}\n' % (to, one))
