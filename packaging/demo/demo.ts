// `make demo`: an agent works on a folder, in a sandbox, where a person can watch. Everything lives
// in one throw-away folder, which is removed at the end, on Ctrl-C and on failure. The exit status
// says whether what was shown really happened.

import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { check, type Shown } from "./checks.ts";
import { type Answering, addModel, chooseModel } from "./model.ts";
import { below, Show } from "./show.ts";
import { type Stage, setStage } from "./stage.ts";

/** The tool that the third message asks for, after a person has taken `w` from the agent. */
const deniedTool = "fs.write";

const firstMessage =
  "There is one open point in notes.md of the workspace. List the files, read what you need, settle " +
  "the point by one exact edit of notes.md with fs.replace, check it with a shell command, and say " +
  "what you did.";
const secondMessage = "What did you change, and how does that line read now?";
const thirdMessage =
  "Write the file /workspace/forbidden.txt with the tool fs.write, once, and say what happened.";

/** Seconds in which ctxd has to say that it is ready, and to end when it is told to. */
const serverSecondsMax = 20;

type Server = ReturnType<typeof startServer>;

function startServer(stage: Stage) {
  const log = Bun.file(below(stage, "ctxd.log"));
  return Bun.spawn([join(stage.source, "bin/ctxd"), "serve"], {
    cwd: "/",
    env: { ...stage.env, CTXD_READY_FD: "3" },
    stdio: ["ignore", log, log, "pipe"],
  });
}

async function awaitReady(stage: Stage, server: Server): Promise<void> {
  const timer = setTimeout(() => server.kill("SIGKILL"), serverSecondsMax * 1000);
  const said = await new Response(Bun.file(server.stdio[3] as number).stream()).text();
  clearTimeout(timer);
  const answer = JSON.parse(said || "{}") as { ok?: boolean };
  if (answer.ok === true) return;
  throw new Error(`ctxd did not start: ${said}${readFileSync(below(stage, "ctxd.log"), "utf8")}`);
}

async function stopServer(server: Server | undefined): Promise<void> {
  if (!server || server.exitCode !== null) return;
  server.kill("SIGTERM");
  const timer = setTimeout(() => server.kill("SIGKILL"), serverSecondsMax * 1000);
  await server.exited;
  clearTimeout(timer);
}

async function prepare(show: Show, stage: Stage, answering: Answering, keyFile: string) {
  show.say("1. Make a tree: agents, tools and models are files.");
  const made = await show.run(["ctx", "bootstrap"]);
  if (made.exit !== 0) throw new Error("bootstrap failed");
  show.say(`2. Name the model at ${answering.baseUrl} and allow the agent to use it.`);
  const model = addModel(stage, answering, keyFile);
  const line = `allow coder_t model:${model} use`;
  show.typed(`echo '${line}' >> agent/coder.d/policy`);
  appendFileSync(join(stage.source, "agent/coder.d/policy"), `${line}\n`);
  const set = await show.run(["ctx", "set", "agent/coder.d/model", model]);
  if (set.exit !== 0) throw new Error("the model could not be set");
  await show.run(["ctx", "ls", "tool"]);
}

async function perform(show: Show, stage: Stage): Promise<Shown> {
  show.say(
    "4. Ask coder. It lists, reads, edits and runs a command, each call in its own sandbox.",
  );
  const first = await show.run(["ctx", "agent", "send", "coder", firstMessage]);
  show.say("5. What changed in the workspace:");
  const diff = await show.run(["diff", "-u", "../before/notes.md", "notes.md"]);
  show.say("6. The same session goes on.");
  const second = await show.run(["ctx", "agent", "send", "coder", secondMessage]);
  show.say("7. Take the right to write from the agent; the next call already knows.");
  await show.run(["ctx", "set", "agent/coder.d/perm", "r-x"]);
  const denied = await show.run(["ctx", "agent", "send", "coder", thirdMessage]);
  const question = ["coder", `tool:${deniedTool}`, "execute"];
  const explained = await show.run(["ctx", "policy", "explain", ...question]);
  show.say("8. The session is plain files.");
  const session = join(stage.source, "home", String(stage.uid), "agent/coder/session/default");
  await show.run(["ls", session]);
  await show.run(["tail", "-n", "4", join(session, "events.jsonl")]);
  return { first, second, denied, explained, diff, session };
}

async function main(): Promise<number> {
  const env = (name: string) => process.env[name] ?? "";
  const wanted = { baseUrl: env("BASE_URL"), model: env("MODEL"), keyFile: env("API_KEY_FILE") };
  const answering = chooseModel(wanted, deniedTool);
  const stage = setStage();
  const show = new Show(stage);
  let server: Server | undefined;
  const leave = async () => {
    await stopServer(server);
    await answering.story?.stop();
    stage.remove();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      show.interrupt();
      void leave().then(() => process.exit(130));
    });
  }
  try {
    await prepare(show, stage, answering, wanted.keyFile);
    show.say("3. Start the server of the tree.");
    show.typed("ctxd serve &");
    server = startServer(stage);
    await awaitReady(stage, server);
    await show.run(["ctx", "status"]);
    const shown = await perform(show, stage);
    show.say("9. Stop the server and remove everything.");
    await stopServer(server);
    const wrong = check(stage, answering, shown);
    if (wrong.length > 0) process.stdout.write(readFileSync(below(stage, "ctxd.log"), "utf8"));
    for (const sentence of wrong) process.stdout.write(`not shown: ${sentence}\n`);
    process.stdout.write(wrong.length === 0 ? "\ndemo ok\n" : "\ndemo failed\n");
    return wrong.length === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    await leave();
  }
}

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
