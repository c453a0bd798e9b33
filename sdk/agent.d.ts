/** What the host made of the call of the step before. */
export interface Observation {
    readonly tool_call_id: string;
    readonly name: string;
    readonly status: "ok" | "error";
    readonly content: string;
    /** There was more than the content holds. */
    readonly truncated: boolean;
}
export interface Invocation {
    readonly schema: "cortexfs.agent-invocation/v1";
    readonly run: string;
    /** From 0 to 8. */
    readonly step: number;
    readonly input: string;
    readonly history_messages: string;
    readonly tool_context: string;
    /** Null at step 0 and never later. */
    readonly observation: Observation | null;
}
/** One message of the session's earlier runs. */
export type HistoryMessage = {
    readonly role: "user";
    readonly content: string;
} | {
    readonly role: "assistant";
    readonly content: string;
    readonly tool_calls?: readonly {
        readonly id: string;
        readonly name: string;
        readonly args: Readonly<Record<string, unknown>>;
    }[];
} | ({
    readonly role: "tool";
} & Omit<Observation, "truncated">);
export interface ModelMessage {
    readonly role: "system" | "user" | "assistant";
    readonly content: string;
}
export interface ModelAnswer {
    readonly text: string;
    /** Absent when the model does not tell. */
    readonly usage?: {
        readonly inputTokens: number;
        readonly outputTokens: number;
    };
}
/** One step. The functions need no `this`, so they can be taken apart. */
export interface Step {
    readonly run: string;
    readonly step: number;
    readonly input: string;
    readonly observation: Observation | null;
    /** Earlier messages of the session, oldest first. */
    readonly history: readonly HistoryMessage[];
    readonly toolContext: string;
    /** A piece of the answer, shown at once and not recorded. */
    say(text: string): void;
    /** A piece of reasoning, shown at once and not recorded. */
    think(text: string): void;
    /** A whole message. A step that ends with messages and no call is the last of its run. */
    message(text: string): void;
    /** Tokens that the step used elsewhere. */
    usage(inputTokens: number, outputTokens: number): void;
    /** Yields the one call of this step. Nothing may be printed after it; the next step observes it. */
    callTool(name: string, args: Readonly<Record<string, unknown>>): void;
    /** An answer of a model that the agent's policy allows. Throws AgentError when there is none. */
    useModel(model: string, messages: string | readonly ModelMessage[], onText?: (text: string) => void): Promise<ModelAnswer>;
    /** Replaces a prompt text of this very agent from the next run on. At most 8 KiB. */
    updatePrompt(control: "system.md" | "prompt.template.md", content: string): Promise<void>;
}
/** `code` is one of the product's error codes, such as EINVAL or EACCES. */
export declare class AgentError extends Error {
    readonly code: string;
    constructor(code: string, message: string);
}
/**
 * Reads the one invocation, calls `handler`, prints what it says and ends the process: with 0, or
 * with 1 and a line on standard error when anything was wrong. A string that is returned is a message.
 */
export declare function runStep(handler: (step: Step) => unknown): Promise<never>;
/** All bytes of standard input as an invocation. Throws AgentError EINVAL or EMSGSIZE. */
export declare function decodeInvocation(bytes: Uint8Array): Invocation;
