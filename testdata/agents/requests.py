#!/usr/bin/python3
"""Asks its host for what it may ask, and for what it may not; answers with the codes."""
import json
import os
import socket
import sys

json.loads(sys.stdin.readline())
own = {name: os.environ["CTX_" + name.upper()] for name in ("agent", "session")}
own["run"] = os.environ["CTX_RUN_ID"]
count = 0


def ask(**request):
    global count
    count += 1
    request = {"request_id": f"r{count}", **request}
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(os.environ["CTX_CONTROL_SOCKET"])
    with peer, peer.makefile("rw") as lines:
        lines.write(json.dumps(request) + "\n")
        lines.flush()
        answer = json.loads(lines.readline())
    return "ok" if answer["ok"] else answer["code"]


def update(content="You are terse.\n", control="system.md", **other):
    return ask(**{"op": "agent.update", **own, "control": control, "content": content, **other})


def authorize(name):
    return ask(op="tool.authorize", name=name, args={"path": "x"})


def elsewhere(work, daemon):
    """The answer to a child, or to a process that has left its parent and its session."""
    read, write = os.pipe()
    if os.fork() == 0:
        if daemon:
            os.setsid()
            if os.fork() != 0:
                os._exit(0)
        os.write(write, work().encode())
        os._exit(0)
    if daemon:
        os.wait()
    os.close(write)
    count_up()
    return os.read(read, 100).decode()


def count_up():
    global count
    count += 1


said = {
    "update": update(),
    "token": update(token="old", control="prompt.template.md", content="{{agent_instructions}}\n"),
    "child": elsewhere(update, daemon=False),
    "daemon": elsewhere(update, daemon=True),
    "repeated": ask(op="agent.update", **own, control="system.md", content="no", request_id="r1"),
    "policy": update(control="policy"),
    "path": update(control="../coder.d/system.md"),
    "other agent": update(agent="coder"),
    "other session": update(session="elsewhere"),
    "other run": update(run="ctx-1"),
    "too long": update("x" * 8193),
    "nul": update("a\0b"),
    "read": authorize("fs.read"),
    "write": authorize("fs.write"),
    "nothing": authorize("no.such"),
    "create": ask(op="agent.create", name="c", label="c_t", model=["debug/echo"]),
}
text = json.dumps(said)
message = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": text}]}
print(json.dumps(message))
