"""A small, well-behaved MCP server over stdio, for tests of what runs behind a projected tool.

Its tools say what a test wants to know of their process: which one it is, what it can see and read.
"""

import base64
import json
import os
import sys
import time

counted = 0
changed = "--changed" in sys.argv

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NONE = {"type": "object"}
SUM = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
TOTAL = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}


def tools():
    described = "Says its input, changed" if changed else "Says its input"
    return [
        {"name": "echo", "description": described, "inputSchema": TEXT},
        {"name": "count", "description": "Counts its calls", "inputSchema": NONE},
        {"name": "sum", "description": "Adds", "inputSchema": SUM, "outputSchema": TOTAL},
        {"name": "wrong", "description": "Breaks its schema", "inputSchema": NONE, "outputSchema": TOTAL},
        {"name": "image", "description": "Gives an image", "inputSchema": NONE},
        {"name": "fail", "description": "Fails", "inputSchema": NONE},
        {"name": "look", "description": "Says what a path is", "inputSchema": TEXT},
        {"name": "env", "description": "Says a variable", "inputSchema": TEXT},
        {"name": "write", "description": "Writes a file", "inputSchema": TEXT},
        {"name": "slow", "description": "Takes its time", "inputSchema": TEXT},
        {"name": "die", "description": "Ends its server", "inputSchema": NONE},
        {"name": "change", "description": "Changes another tool", "inputSchema": NONE},
    ]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def call(name, given, progress):
    global counted, changed
    if name == "echo":
        return text(given["text"])
    if name == "count":
        counted += 1
        return text(f"{counted} of {os.getpid()}")
    if name == "sum":
        total = given["a"] + given["b"]
        return {**text(json.dumps({"total": total})), "structuredContent": {"total": total}}
    if name == "wrong":
        return {**text("kept"), "structuredContent": {"total": "many"}}
    if name == "image":
        data = base64.b64encode(b"\x89PNG" + bytes(range(256))).decode()
        return {"content": [{"type": "image", "data": data, "mimeType": "image/png"}]}
    if name == "fail":
        return {**text("it failed"), "isError": True}
    if name == "look":
        path = given["text"]
        return text(f"{os.path.exists(path)} {os.path.isdir(path)}")
    if name == "env":
        return text(os.environ.get(given["text"], "unset"))
    if name == "write":
        with open(given["text"], "w", encoding="utf-8") as file:
            file.write("written\n")
        return text("written")
    if name == "slow":
        for step in range(1, 4):
            if progress is not None:
                params = {"progressToken": progress, "progress": step, "total": 3, "message": "on"}
                send({"method": "notifications/progress", "params": params})
            time.sleep(float(given["text"]))
        return text("slow and done")
    if name == "die":
        os._exit(3)
    if name == "change":
        changed = True
        send({"method": "notifications/tools/list_changed"})
        return text("changed")
    raise KeyError(name)


for line in sys.stdin:
    message = json.loads(line)
    identity, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if identity is None or method is None:
        continue
    if method == "initialize":
        info = {"name": "plain", "version": "1.2.3"}
        reply = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        send({"id": identity, "result": reply})
    elif method == "tools/list":
        send({"id": identity, "result": {"tools": tools()}})
    elif method == "tools/call":
        token = (params.get("_meta") or {}).get("progressToken")
        result = call(params["name"], params.get("arguments") or {}, token)
        send({"id": identity, "result": result})
    else:
        send({"id": identity, "error": {"code": -32601, "message": "no such method"}})
