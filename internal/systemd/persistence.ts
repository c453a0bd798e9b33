// What becomes of terminals at a logout and at a reboot, as sentences for a person. Pure: facts in,
// sentences out; docs/design/supervision.md says why it is so.

export interface LoginFacts {
  /** Name of the account, else its uid. */
  readonly user: string;
  /** Whether the user's manager and runtime folder outlive the last logout. */
  readonly linger: boolean;
  /** Whether logind ends what a session started when it is over. */
  readonly killUserProcesses: boolean;
}

export interface Persistence {
  readonly logout: { readonly ends: boolean; readonly text: string; readonly fix?: string };
  readonly reboot: string;
}

export interface PersistenceInput {
  readonly scope: "user" | "system";
  readonly supervisor: "systemd" | "builtin";
  /** Undefined where no logind answers: nothing then acts on a logout. */
  readonly login: LoginFacts | undefined;
  /** Whether the runtime folder is below the one that logind removes. */
  readonly runtimeOfLogin: boolean;
}

const reboot = "a reboot ends terminals; their recordings and what they were stay";

export function persistence(input: PersistenceInput): Persistence {
  return { logout: logout(input), reboot };
}

function logout({ scope, supervisor, login, runtimeOfLogin }: PersistenceInput) {
  if (scope === "system" && supervisor === "systemd") {
    return { ends: false, text: "terminals go on after a logout: they are units of the system" };
  }
  if (login === undefined) {
    return { ends: false, text: "terminals go on after a logout: no logind ends them" };
  }
  const fix = `run loginctl enable-linger ${login.user}`;
  if (login.linger && supervisor === "systemd") {
    return { ends: false, text: `terminals go on after a logout: ${login.user} lingers` };
  }
  if (supervisor === "systemd" && login.killUserProcesses) {
    const text = "terminals end with your last logout, as your systemd manager does";
    return { ends: true, text, fix };
  }
  if (supervisor === "systemd") {
    // A process that a login left keeps its session, and with it the manager.
    const text =
      "after your last logout terminals go on only while a server that a login left runs";
    return { ends: true, text, fix };
  }
  if (login.killUserProcesses) {
    const text = "terminals end with the login that started their server: KillUserProcesses=yes";
    return { ends: true, text, fix: `${fix} and log in anew, so that systemd runs them` };
  }
  if (!login.linger && runtimeOfLogin) {
    const text = "terminals lose their sockets with your last logout, which removes /run/user";
    return { ends: true, text, fix };
  }
  return { ends: false, text: "terminals go on after a logout" };
}
