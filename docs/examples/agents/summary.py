#!/usr/bin/env python3
"""An agent in Python, with nothing but the standard library.

It lists the workspace, reads its first text file, and lets a model say something about it. Each step is
this program from its beginning: one JSON object comes in on standard input, JSON lines go out, the
program exits. The host makes the calls and tells the next step what came of them.

The model is asked by executing it: /ctx/model/debug/echo is a program in the sandbox that passes the
question to the host, which has the key and the network. The sandbox has neither.
"""

import json
import os
import subprocess
import sys

MODEL = os.environ.get("SUMMARY_MODEL", "debug/echo")  # a line of the agent's "env" control may say it
EXCERPT_CHARS = 2000  # what the model is shown of a file


def emit(**frame):
    print(json.dumps(frame, ensure_ascii=False), flush=True)


def message(text):
    """A step that ends with a message and no call ends the run."""
    emit(type="message", role="assistant", content=[{"type": "text", "text": text}])


def call(step, name, **args):
    """Yields the one call of this step; nothing may be printed after it. The id is new in the run."""
    emit(type="tool_call", id=f"step-{step}", name=name, args=args)


def ask_model(prompt):
    """The answer of a model, whose pieces are shown as they come."""
    request = json.dumps({"messages": [{"role": "user", "content": prompt}]})
    model = subprocess.Popen(
        [f"/ctx/model/{MODEL}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with model.stdin as stdin:
        stdin.write(request)
    answer = []
    for line in model.stdout:
        frame = json.loads(line)
        if frame["type"] == "delta":
            emit(type="delta", text=frame["text"])
        elif frame["type"] == "message":
            answer += [part["text"] for part in frame["content"]]
    if model.wait() != 0:  # it said why on standard error, which the host keeps in the agent's log
        raise SystemExit(f"model {MODEL} did not answer")
    return "".join(answer)


def first_file(listing):
    """fs.list answers with one JSON object a line; its path is of the listed folder."""
    entries = [json.loads(line) for line in listing.splitlines() if line.startswith("{")]
    return next((entry["path"] for entry in entries if entry["type"] == "file"), None)


def main():
    invocation = json.load(sys.stdin)
    step, observation = invocation["step"], invocation["observation"]
    if step == 0:
        return call(step, "fs.list", path="/workspace")
    if observation["status"] == "error":  # refused or failed: an observation like any other
        return message(f"I could not look: {observation['content']}")
    if step == 1:
        path = first_file(observation["content"])
        if path is None:
            return message("There is no file here.")
        return call(step, "fs.read", path=f"/workspace/{path}")
    excerpt = observation["content"][:EXCERPT_CHARS]
    return message(ask_model(f"{invocation['input']}\n\n{excerpt}"))


main()
