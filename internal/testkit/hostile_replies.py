"""Scripts whose replies and requests are hostile: ids, order, errors, batches, progress."""

import json
import time

from hostile_wire import Server, script, text, tool


@script("ping")
class Ping(Server):
    """Pings in every phase and answers only when the ping was answered."""

    def begin(self):
        self.pongs = []

    def initialize(self, to, params):
        self.pongs.append(self.ask("ping"))
        super().initialize(to, params)

    def list(self, to, params):
        self.pongs.append(self.ask("ping"))
        super().list(to, params)

    def call(self, to, params):
        self.pongs.append(self.ask("ping"))
        self.reply(to, text(json.dumps(self.pongs, sort_keys=True)))


REQUESTS = {
    "sampling": (
        "sampling/createMessage",
        {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 9},
    ),
    "elicitation": (
        "elicitation/create",
        {
            "message": "Your password, please",
            "requestedSchema": {"type": "object", "properties": {"password": {"type": "string"}}},
        },
    ),
    "elicitation-url": (
        "elicitation/create",
        {"mode": "url", "message": "Go there", "url": "http://127.0.0.1:9/", "elicitationId": "1"},
    ),
    "roots": ("roots/list", {}),
    "unknown": ("no/such", {}),
    "tasks": ("tasks/list", {}),
    "tools": ("tools/list", {}),
}


@script("ask")
class Ask(Server):
    """A request of the kind ARG before the answer to a call, whose text is the client's reply."""

    def call(self, to, params):
        method, sent = REQUESTS[self.args[0]]
        answer = self.ask(method, **sent)
        del answer["id"]
        self.reply(to, text(json.dumps(answer, sort_keys=True)))


@script("ask-in-list")
class AskInList(Ask):
    """The same before the answer to the list."""

    def list(self, to, params):
        method, sent = REQUESTS[self.args[0]]
        self.ask(method, **sent)
        Server.list(self, to, params)


@script("duplicate-replies")
class DuplicateReplies(Server):
    """Every reply a second time, the second one with other content."""

    def reply(self, to, result):
        super().reply(to, result)
        super().reply(to, {**text("the second"), "tools": [tool("other")]})


@script("unsolicited-replies")
class UnsolicitedReplies(Server):
    """Before each reply some to questions that nobody asked, results and errors."""

    def reply(self, to, result):
        for other in (-1, 0.5, 999, 2**53, "999", "", None, True, [], {}, "__proto__"):
            super().reply(other, {"tools": [tool("other")], **text("another's")})
            self.refuse(other, -32000, "another's failure")
        super().reply(to, result)


@script("ids-of-another-type")
class IdsOfAnotherType(Server):
    """In phase ARG2 (list, call) the reply's id is the right one as ARG: text, float, list, null."""

    def wrong(self, to):
        kinds = {"text": str(to), "list": [to], "null": None, "padded": f"0{to}"}
        return kinds[self.args[0]]

    def list(self, to, params):
        super().list(self.wrong(to) if self.args[1] == "list" else to, params)

    def call(self, to, params):
        super().call(self.wrong(to) if self.args[1] == "call" else to, params)


@script("late-reply")
class LateReply(Server):
    """Answers the first call when it was cancelled, as if nothing had happened; others at once."""

    def call(self, to, params):
        if self.calls == 1:
            self.first = to
            return
        self.reply(to, text("the second call's"))

    def cancelled(self, params):
        self.reply(self.first, text("too late"))


@script("reply-before-the-question")
class ReplyBefore(Server):
    """Answers to the next requests before they are asked."""

    def initialize(self, to, params):
        for guess in range(1, 6):
            self.reply(guess, {"tools": [tool("forged")], **text("forged")})
        super().initialize(to, params)


@script("error")
class Error(Server):
    """A JSON-RPC error in phase ARG (initialize, list, call)."""

    def fails(self, phase, to):
        if self.args[0] == phase:
            self.refuse(to, -32000, f"{phase} is not for you\x1b[31m", data={"secret": "of the server"})
        return self.args[0] == phase

    def initialize(self, to, params):
        self.fails("initialize", to) or super().initialize(to, params)

    def list(self, to, params):
        self.fails("list", to) or super().list(to, params)

    def call(self, to, params):
        self.fails("call", to) or super().call(to, params)


ERRORS = {
    "empty": {},
    "text": "broken",
    "null": None,
    "code-text": {"code": "E", "message": "m"},
    "message-number": {"code": -32000, "message": 7},
    "message-long": {"code": -32000, "message": "m" * (1024 * 1024)},
    "unknown-tool": {"code": -32602, "message": "Unknown tool: echo"},
}


@script("error-malformed")
class ErrorMalformed(Server):
    """Answers a call with an error of the kind ARG."""

    def call(self, to, params):
        self.send({"jsonrpc": "2.0", "id": to, "error": ERRORS[self.args[0]]})


@script("result-and-error")
class ResultAndError(Server):
    """Answers a call with a result and an error in one."""

    def call(self, to, params):
        error = {"code": -32000, "message": "both"}
        self.send({"jsonrpc": "2.0", "id": to, "result": text("both"), "error": error})


@script("batch")
class Batch(Server):
    """Every message in an array of one, as an old version allowed."""

    def send(self, message):
        super().send([message])


@script("progress-for-ever")
class ProgressForEver(Server):
    """Answers a call with progress ten times a second and never with a result."""

    def call(self, to, params):
        token = params.get("_meta", {}).get("progressToken")
        step = 0
        while True:
            step += 1
            self.notify("notifications/progress", progressToken=token, progress=step, message="soon")
            time.sleep(0.1)


@script("progress-then-answer")
class ProgressThenAnswer(Server):
    """Progress ARG times every ARG2 milliseconds, then the answer."""

    def call(self, to, params):
        token = params.get("_meta", {}).get("progressToken")
        for step in range(int(self.args[0])):
            time.sleep(int(self.args[1]) / 1000)
            self.notify("notifications/progress", progressToken=token, progress=step + 1)
        self.reply(to, text("after progress"))


@script("progress-of-another")
class ProgressOfAnother(Server):
    """Progress for tokens that are not the call's, which must not keep it alive."""

    def call(self, to, params):
        while True:
            for token in (-1, "other", None, 2**53, "__proto__"):
                self.notify("notifications/progress", progressToken=token, progress=1)
            time.sleep(0.1)


@script("progress-flood")
class ProgressFlood(Server):
    """ARG times progress at once, default 100,000, then the answer."""

    def call(self, to, params):
        token = params.get("_meta", {}).get("progressToken")
        one = {"progressToken": token, "progress": 1, "message": "m" * 100}
        line = json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": one})
        for _ in range(int(self.args[0] if self.args else "100000") // 1000):
            self.raw((line.encode() + b"\n") * 1000)
        self.reply(to, text("after the flood"))
