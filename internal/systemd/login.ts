// What logind does to a user at logout, asked of logind itself. It answers about users who are logged
// in or linger; of anybody else it is known that they do not linger.

import type { LoginFacts } from "./persistence.ts";
import { call, program } from "./programs.ts";
import { parseShow } from "./show.ts";

/** A question to logind; past it there is none that acts on a logout in time either. */
const answerMsMax = 3000;

/** Undefined where no logind answers. */
export async function loginFacts(uid: number): Promise<LoginFacts | undefined> {
  const loginctl = program("loginctl");
  if (loginctl === undefined) return undefined;
  const ask = async (words: readonly string[]) => {
    const { exit, stdout } = await call([loginctl, "show-user", ...words], {}, answerMsMax);
    return exit === 0 ? parseShow(stdout) : undefined;
  };
  // Without a user it tells of logind itself.
  const manager = await ask(["--property=KillUserProcesses"]);
  const kill = manager?.["KillUserProcesses"];
  if (kill === undefined) return undefined;
  const user = await ask(["--property=Name", "--property=Linger", String(uid)]);
  return {
    user: user?.["Name"] ?? String(uid),
    linger: user?.["Linger"] === "yes",
    killUserProcesses: kill === "yes",
  };
}
