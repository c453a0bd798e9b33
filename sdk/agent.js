// For authors of agents in TypeScript or JavaScript: one step, from the invocation on standard input to
// the lines that it prints. It needs nothing but node or Bun and imports nothing of this product, so a
// copy of this one file works; what it refuses and what it may print are the contract of
// sdk-envelope-v1, to whose goldens the tests hold it.
import { readSync, writeSync } from "node:fs";
import { connect } from "node:net";
/** The invocation, or one line that is printed, with its newline, in bytes. */
const lineBytesMax = 1024 * 1024;
/** All that one step prints, in bytes. */
const outputBytesMax = 8 * 1024 * 1024;
/** UTF-8 bytes of the texts of an invocation. */
const inputBytesMax = 512 * 1024;
const contextBytesMax = 64 * 1024;
const observationBytesMax = 16 * 1024;
const idBytesMax = 256;
/** The last step: a run has at most eight calls. */
const stepMax = 8;
/** UTF-16 units of a delta; each takes at most six bytes of JSON, so that a line holds them. */
const deltaUnitsMax = 160 * 1024;
/** Pause between two tries of a write that would block, in milliseconds. */
const retryMs = 5;
/** `code` is one of the product's error codes, such as EINVAL or EACCES. */
export class AgentError extends Error {
    code;
    constructor(code, message) {
        super(message);
        this.name = "AgentError";
        this.code = code;
    }
}
/**
 * Reads the one invocation, calls `handler`, prints what it says and ends the process: with 0, or
 * with 1 and a line on standard error when anything was wrong. A string that is returned is a message.
 */
export async function runStep(handler) {
    try {
        const invocation = decodeInvocation(readInput());
        requireEnvironment(invocation);
        const output = new Output();
        const answer = await handler(stepOf(invocation, output));
        if (typeof answer === "string")
            output.message(answer);
        output.requireEnding();
    }
    catch (error) {
        const code = error instanceof AgentError ? ` [${error.code}]` : "";
        const stack = error instanceof AgentError ? `${error.message}` : error?.stack;
        writeAll(2, Buffer.from(`${stack ?? error}${code}\n`));
        process.exit(1);
    }
    process.exit(0);
}
/** All bytes of standard input as an invocation. Throws AgentError EINVAL or EMSGSIZE. */
export function decodeInvocation(bytes) {
    if (bytes.length > lineBytesMax) {
        fail("EMSGSIZE", `the invocation is longer than ${lineBytesMax} bytes`);
    }
    let text = "";
    let value;
    try {
        text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
        value = JSON.parse(text);
    }
    catch {
        fail("EINVAL", "the invocation is not JSON in UTF-8");
    }
    if (!/^\{[^\n]*\}\n$/.test(text)) {
        fail("EINVAL", "the invocation is not exactly one JSON object and one newline");
    }
    const it = closedObject("the invocation", value, invocationMembers);
    if (it["schema"] !== invocationSchema)
        fail("EINVAL", `"schema" is not "${invocationSchema}"`);
    requireIdentifier(it, "run");
    requireText(it, "input", inputBytesMax);
    requireText(it, "history_messages", contextBytesMax);
    requireText(it, "tool_context", contextBytesMax);
    const { step, observation } = it;
    if (!Number.isInteger(step) || Number(step) < 0 || Number(step) > stepMax) {
        fail("EINVAL", `"step" is not a whole number from 0 to ${stepMax}`);
    }
    if ((step === 0) !== (observation === null)) {
        fail("EINVAL", "step 0 has no observation, and every later step has one");
    }
    if (observation !== null)
        requireObservation(observation);
    return it;
}
const invocationSchema = "cortexfs.agent-invocation/v1";
const invocationMembers = [
    "schema",
    "run",
    "step",
    "input",
    "history_messages",
    "tool_context",
    "observation",
];
const observationMembers = ["tool_call_id", "name", "status", "content", "truncated"];
function requireObservation(value) {
    const it = closedObject("the observation", value, observationMembers);
    requireIdentifier(it, "tool_call_id");
    if (!isToolName(it["name"]))
        fail("EINVAL", `"name" is not the name of a tool`);
    if (it["status"] !== "ok" && it["status"] !== "error") {
        fail("EINVAL", `"status" is neither "ok" nor "error"`);
    }
    requireText(it, "content", observationBytesMax);
    if (typeof it["truncated"] !== "boolean")
        fail("EINVAL", `"truncated" is not true or false`);
}
/** An object with exactly these members: what is unknown was meant for somebody else. */
function closedObject(what, value, names) {
    if (!isObject(value))
        fail("EINVAL", `${what} is not an object`);
    const missing = names.find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined)
        fail("EINVAL", `${what} has no "${missing}"`);
    const unknown = Object.keys(value).find((name) => !names.includes(name));
    if (unknown !== undefined)
        fail("EINVAL", `${what} has an unknown ${JSON.stringify(unknown)}`);
    return value;
}
function requireText(it, name, bytesMax) {
    const text = it[name];
    if (typeof text !== "string")
        fail("EINVAL", `"${name}" is not a text`);
    if (!text.isWellFormed())
        fail("EINVAL", `"${name}" holds half of a surrogate pair`);
    if (Buffer.byteLength(text) > bytesMax) {
        fail("EMSGSIZE", `"${name}" is longer than ${bytesMax} bytes`);
    }
    return text;
}
function requireIdentifier(it, name) {
    const text = requireText(it, name, lineBytesMax);
    if (text === "" || text.includes("\0") || Buffer.byteLength(text) > idBytesMax) {
        fail("EINVAL", `"${name}" is not an identifier of 1 to ${idBytesMax} bytes without NUL`);
    }
}
function isToolName(name) {
    if (typeof name !== "string" || !/^[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}$/.test(name))
        return false;
    return !/\.(?:sock|d)$/.test(name);
}
function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
function fail(code, message) {
    throw new AgentError(code, message);
}
/** By hand, without a host around, these are not set. */
function requireEnvironment({ run, step }) {
    const { CTX_RUN_ID: ownRun = run, CTX_STEP: ownStep = String(step) } = process.env;
    if (ownRun !== run)
        fail("EINVAL", `"run" is not CTX_RUN_ID`);
    if (ownStep !== String(step))
        fail("EINVAL", `"step" is not CTX_STEP`);
}
function historyOf(text) {
    let value;
    try {
        value = JSON.parse(text === "" ? "[]" : text);
    }
    catch {
        fail("EINVAL", `"history_messages" is not JSON`);
    }
    const roles = ["user", "assistant", "tool"];
    const isSpoken = (one) => isObject(one) && roles.includes(String(one["role"])) && typeof one["content"] === "string";
    if (!Array.isArray(value) || !value.every(isSpoken))
        fail("EINVAL", `"history_messages" is not a list of messages`);
    return value;
}
function stepOf(invocation, output) {
    const { run, step, input, observation } = invocation;
    return {
        ...{ run, step, input, observation },
        history: historyOf(invocation.history_messages),
        toolContext: invocation.tool_context,
        say: (text) => output.deltas("delta", text),
        think: (text) => output.deltas("reasoning_delta", text),
        message: (text) => output.message(text),
        usage: (inputTokens, outputTokens) => output.print({ type: "usage", input_tokens: inputTokens, output_tokens: outputTokens }),
        callTool: (name, args) => output.call(`call-${step}`, name, args),
        useModel,
        updatePrompt: (control, content) => updatePrompt(run, control, content),
    };
}
/** What the step prints, in the order that the host accepts, so that a mistake shows where it is made. */
class Output {
    #bytes = 0;
    #messages = 0;
    #call;
    print(frame) {
        if (this.#call !== undefined) {
            fail("EINVAL", `nothing can be printed after the call of "${this.#call}"`);
        }
        const line = Buffer.from(`${JSON.stringify(frame, sendable)}\n`);
        if (line.length > lineBytesMax) {
            fail("EMSGSIZE", `the line of a ${frame["type"]} is longer than ${lineBytesMax} bytes`);
        }
        this.#bytes += line.length;
        if (this.#bytes > outputBytesMax) {
            fail("EMSGSIZE", `the step printed more than ${outputBytesMax} bytes`);
        }
        writeAll(1, line);
    }
    deltas(type, text) {
        for (let start = 0; start < text.length;) {
            const end = start + deltaUnitsMax;
            const splitsPair = /[\ud800-\udbff]/.test(text[end - 1] ?? "");
            const next = splitsPair ? end - 1 : end;
            this.print({ type, text: text.slice(start, next) });
            start = next;
        }
    }
    message(text) {
        this.print({ type: "message", role: "assistant", content: [{ type: "text", text }] });
        this.#messages += 1;
    }
    call(id, name, args) {
        if (!isToolName(name))
            fail("EINVAL", `${JSON.stringify(name)} is not the name of a tool`);
        if (!isObject(args))
            fail("EINVAL", `the input of "${name}" is not an object`);
        this.print({ type: "tool_call", id, name, args });
        this.#call = name;
    }
    requireEnding() {
        if (this.#call !== undefined || this.#messages > 0)
            return;
        fail("EINVAL", "the step said neither a message nor a call");
    }
}
/** Half of a surrogate pair becomes U+FFFD; a number that JSON has not is a mistake. */
function sendable(_name, value) {
    if (typeof value === "string")
        return value.toWellFormed();
    if (typeof value === "number" && !Number.isFinite(value)) {
        fail("EINVAL", `${value} is not a number that can be sent`);
    }
    return value;
}
async function useModel(model, messages, onText) {
    const said = typeof messages === "string" ? [{ role: "user", content: messages }] : messages;
    const texts = [];
    let usage = {};
    let error = {};
    for await (const frame of ask({ op: "model.use", model, messages: said })) {
        if (frame["ok"] === false)
            refuse(frame);
        if (frame["type"] === "delta")
            onText?.(String(frame["text"]));
        if (frame["type"] === "error")
            error = frame;
        if (frame["type"] === "message") {
            for (const part of frame["content"])
                texts.push(part.text);
        }
        if (frame["type"] === "usage") {
            const { input_tokens: inputTokens, output_tokens: outputTokens } = frame;
            usage = { usage: { inputTokens: Number(inputTokens), outputTokens: Number(outputTokens) } };
        }
        if (frame["type"] !== "done")
            continue;
        if (frame["status"] === "ok")
            return { text: texts.join(""), ...usage };
        refuse({ code: frame["code"], message: `model "${model}": ${frame["status"]}`, ...error });
    }
    return fail("EHOSTDOWN", "the host closed the connection before the model had answered");
}
async function updatePrompt(run, control, content) {
    const { CTX_AGENT: agent, CTX_SESSION: session } = process.env;
    for await (const reply of ask({ op: "agent.update", agent, session, run, control, content })) {
        if (reply["ok"] === true)
            return;
        refuse(reply);
    }
    fail("EHOSTDOWN", "the host closed the connection before it had answered");
}
function refuse({ code, message }) {
    fail(typeof code === "string" ? code : "EIO", String(message));
}
/** One request on a connection of its own, under a fresh id, and the lines that answer it. */
async function* ask(request) {
    const path = process.env["CTX_CONTROL_SOCKET"];
    if (!path)
        return fail("EHOSTDOWN", "CTX_CONTROL_SOCKET is not set: this is no run of an agent");
    const line = `${JSON.stringify({ ...request, request_id: crypto.randomUUID() }, sendable)}\n`;
    if (Buffer.byteLength(line) > lineBytesMax) {
        fail("EMSGSIZE", `the request is longer than ${lineBytesMax} bytes`);
    }
    const socket = connect({ path });
    try {
        socket.write(line);
        let rest = Buffer.alloc(0);
        for await (const chunk of socket) {
            rest = Buffer.concat([rest, chunk]);
            for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
                yield JSON.parse(rest.subarray(0, end).toString());
                rest = rest.subarray(end + 1);
            }
            if (rest.length >= lineBytesMax)
                fail("EMSGSIZE", "the host sent a line that is too long");
        }
    }
    catch (error) {
        if (error instanceof AgentError)
            throw error;
        fail("EHOSTDOWN", `cannot ask the host: ${error.message}`);
    }
    finally {
        socket.destroy();
    }
}
/** Standard input to its end, and a byte more than allowed at most. */
function readInput() {
    const buffer = Buffer.alloc(lineBytesMax + 1);
    let length = 0;
    while (length < buffer.length) {
        const count = untilReady(() => readSync(0, buffer, length, buffer.length - length, null));
        if (count === 0)
            break;
        length += count;
    }
    return buffer.subarray(0, length);
}
/** At once, so that a step that ends right after has said everything. */
function writeAll(descriptor, bytes) {
    for (let start = 0; start < bytes.length;) {
        start += untilReady(() => writeSync(descriptor, bytes, start));
    }
}
/** A pipe may have been made non-blocking by whoever has its other end. */
function untilReady(io) {
    for (;;) {
        try {
            return io();
        }
        catch (error) {
            if (error.code !== "EAGAIN")
                throw error;
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
        }
    }
}
