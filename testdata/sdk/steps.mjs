// A step for the tests of the author's helper, run by node and by Bun as an author would: the input says
// what the step does.

import { runStep } from "../../sdk/agent.js";

const deeds = {
  nothing: () => undefined,
  answer: () => "an answer",
  speak: ({ think, say, message, usage }) => {
    think("hm");
    say("a ");
    message("a message");
    usage(3, 4);
  },
  call: ({ callTool }) => callTool("fs.list", { path: "/workspace" }),
  "call-after-message": ({ callTool, message }) => {
    message("first I look");
    return callTool("fs.list", {});
  },
  "two-calls": ({ callTool }) => {
    callTool("fs.list", {});
    callTool("fs.stat", {});
  },
  "message-after-call": ({ callTool }) => {
    callTool("fs.list", {});
    return "late";
  },
  "bad-name": ({ callTool }) => callTool("../fs.list", {}),
  "bad-args": ({ callTool }) => callTool("fs.list", ["a"]),
  "not-a-number": ({ callTool }) => callTool("fs.list", { limit: 1 / 0 }),
  "half-a-pair": ({ say, message }) => {
    say("a\ud800b");
    message("\udc00");
  },
  "long-delta": ({ say }) => {
    say("😀".repeat(200_000));
    return "long";
  },
  "long-message": ({ message }) => message("x".repeat(1024 * 1024)),
  "too-much": ({ say }) => {
    for (let count = 0; count < 9; count++) say("x".repeat(1024 * 1024));
    return "more";
  },
  throws: () => {
    throw new TypeError("the author's mistake");
  },
  seen: (step) => JSON.stringify([step.run, step.step, step.history, step.toolContext]),
  observed: ({ observation }) => `it says ${observation.content}`,
  model: async ({ useModel, say }) => {
    const { text, usage } = await useModel("debug/echo", "hi", say);
    return JSON.stringify([text, usage ?? null]);
  },
  "model-refused": ({ useModel }) => useModel("debug/none", [{ role: "user", content: "hi" }]),
  update: async ({ updatePrompt }) => {
    await updatePrompt("system.md", "Be careful.\n");
    return "updated";
  },
  "update-too-long": ({ updatePrompt }) => updatePrompt("system.md", "x".repeat(8193)),
};

await runStep((step) => deeds[step.input](step));
