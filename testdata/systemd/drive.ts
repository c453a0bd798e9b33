// Runs the systemd supervisor inside a booted systemd for a test outside: one JSON request as argument,
// one JSON answer on standard output.

import { CodedError } from "../../internal/abi/mod.ts";
import {
  createSystemd,
  findManager,
  loginFacts,
  type SystemdReceipt,
} from "../../internal/systemd/mod.ts";

interface Request {
  readonly do: "find" | "start" | "stop" | "alive" | "login";
  readonly spec?: Parameters<ReturnType<typeof createSystemd>["start"]>[0];
  readonly receipt?: SystemdReceipt;
  /** Of a start: wait for what it said when it ended. */
  readonly words?: boolean;
}

const uid = process.getuid?.() ?? 0;

async function answer(request: Request): Promise<unknown> {
  if (request.do === "login") return loginFacts(uid);
  if (request.do === "find") return findManager(uid, process.env);
  const orphans: string[] = [];
  const systemd = createSystemd({
    uid,
    env: process.env,
    orphans: async ({ generation }) => void orphans.push(generation),
  });
  const receipt = request.receipt ?? { generation: "0".repeat(32) };
  switch (request.do) {
    case "start": {
      const { ended, ...started } = await systemd.start(request.spec as never);
      return { ...started, ...(request.words ? { words: await ended } : {}) };
    }
    case "stop":
      await systemd.stop(receipt);
      return { orphans };
    case "alive":
      return systemd.alive(receipt);
  }
}

const said = await answer(JSON.parse(process.argv[2] ?? "{}") as Request).catch((error) => ({
  code: error instanceof CodedError ? error.code : "none",
  message: String(error?.message),
}));
process.stdout.write(`${JSON.stringify(said ?? null)}\n`);
process.exit(0);
