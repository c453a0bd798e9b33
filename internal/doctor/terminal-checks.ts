// Who supervises the terminals of a server that is started from here, and what becomes of them when
// the person logs out and when the machine starts anew.

import { chooseSupervisor, findManager, loginFacts, persistence } from "../systemd/mod.ts";
import type { Places } from "../tree/mod.ts";
import { type Check, warning, well } from "./check.ts";

/** What logind makes for a login, and removes with the last one. */
const loginRuntime = "/run/user/";

export async function terminalChecks(
  places: Places,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Check[]> {
  const { uid, runtime } = places;
  const scope = uid === 0 ? "system" : "user";
  const [manager, login] = await Promise.all([findManager(uid, env), loginFacts(uid)]);
  const { name, because } = chooseSupervisor(manager);
  const { logout, reboot } = persistence({
    ...{ scope, supervisor: name, login },
    runtimeOfLogin: runtime.startsWith(loginRuntime),
  });
  const whose = scope === "system" ? "the system's" : "your";
  const who =
    name === "systemd"
      ? `terminals are units of ${whose} systemd: ${because}`
      : `terminals are supervised without systemd: ${because}`;
  return [
    well("supervisor", who),
    logout.ends ? warning("logout", logout.text, logout.fix) : well("logout", logout.text),
    well("reboot", reboot),
  ];
}
