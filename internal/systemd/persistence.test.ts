import { expect, test } from "bun:test";
import { type PersistenceInput, persistence } from "./persistence.ts";

const login = { user: "ada", linger: false, killUserProcesses: false };

const cases: [string, Partial<PersistenceInput>, boolean, RegExp, string?][] = [
  ["system units", { scope: "system" }, false, /units of the system/],
  [
    "built in, of the system",
    { scope: "system", supervisor: "builtin", runtimeOfLogin: false },
    false,
    /go on/,
  ],
  ["no logind", { login: undefined, supervisor: "builtin" }, false, /no logind/],
  ["lingering", { login: { ...login, linger: true } }, false, /ada lingers/],
  ["not lingering", {}, true, /only while a server/, "run loginctl enable-linger ada"],
  [
    "not lingering, processes of a login are ended",
    { login: { ...login, killUserProcesses: true } },
    true,
    /end with your last logout/,
    "run loginctl enable-linger ada",
  ],
  [
    "built in, sockets in the login's folder",
    { supervisor: "builtin" },
    true,
    /lose their sockets/,
    "run loginctl enable-linger ada",
  ],
  [
    "built in, processes of a login are ended",
    { supervisor: "builtin", login: { ...login, linger: true, killUserProcesses: true } },
    true,
    /KillUserProcesses=yes/,
    "run loginctl enable-linger ada and log in anew, so that systemd runs them",
  ],
  ["built in, elsewhere", { supervisor: "builtin", runtimeOfLogin: false }, false, /go on/],
  [
    "built in, lingering",
    { supervisor: "builtin", login: { ...login, linger: true } },
    false,
    /go on/,
  ],
];

for (const [name, more, ends, text, fix] of cases) {
  test(`what a logout does is said: ${name}`, () => {
    const input: PersistenceInput = {
      ...{ scope: "user", supervisor: "systemd", login, runtimeOfLogin: true },
      ...more,
    };
    const { logout, reboot } = persistence(input);
    expect([logout.ends, logout.fix]).toEqual([ends, fix]);
    expect(logout.text).toMatch(text);
    expect(reboot).toContain("a reboot ends terminals");
  });
}
