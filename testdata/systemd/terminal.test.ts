// Terminals of the compiled programs under a real systemd: a unit each, found again by a new server,
// gone as a whole when stopped, and what a logout does to them. Nothing here imports the product.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Booted } from "./booted.ts";

setDefaultTimeout(120_000);

const top = resolve(import.meta.dir, "../..");
/** Their own manager runs from the start. */
const ada = { name: "ctxada", uid: 20_921 };
/** Comes and goes by logins. */
const ben = { name: "ctxben", uid: 20_922 };
/** Owns the agents of the system's tree. */
const eve = { name: "ctxeve", uid: 20_923 };
type Person = typeof ada;
const systemTree = "/var/lib/cortexfs/storage/current";

let systemd: Booted | string = "not booted";
beforeAll(async () => {
  const unit = (scope: string) =>
    readFileSync(join(top, "packaging/systemd", scope, "ctxd.service"), "utf8");
  systemd = await Booted.boot({
    accounts: [ada, ben, eve],
    managers: [ada.uid],
    folders: { "/checkout": top },
    files: {
      "etc/systemd/user/ctxd.service": unit("user"),
      "etc/systemd/system/ctxd.service": unit("system"),
    },
  });
  if (typeof systemd === "string") return;
  const links = ["ctx", "ctxd"].map((name) => `ln -s /checkout/dist/${name} /usr/local/bin/`);
  const work = [ada, ben, eve].map(({ name, uid }) => `install -d -o ${uid} /home/${name}/work`);
  expect((await systemd.run(["sh", "-ec", [...links, ...work].join("\n")])).stderr).toBe("");
});
afterAll(async () => {
  if (typeof systemd !== "string") await systemd.end();
});

/** The booted one, or nothing after the line that says why there is none. */
function there(): Booted | undefined {
  if (typeof systemd !== "string") return systemd;
  console.log(`SKIP terminals under a real systemd: ${systemd}`);
  return undefined;
}

/** Runs to a good end and gives what it printed. */
async function as(booted: Booted, { name, uid }: Person, argv: readonly string[]): Promise<string> {
  const env = { HOME: `/home/${name}`, CTX_SOURCE: "" };
  const done = await booted.run(argv, { uid, env, cwd: `/home/${name}/work` });
  if (done.exit !== 0) throw new Error(`${argv.join(" ")}: ${done.stdout}${done.stderr}`);
  return done.stdout;
}

interface Shown {
  readonly [name: string]: unknown;
  readonly unit: string;
  readonly socket: string;
}

async function shown(booted: Booted, person: Person, session: string): Promise<Shown | undefined> {
  const lines = (await as(booted, person, ["ctx", "agent", "ps", "coder", "--json"])).split("\n");
  const all = lines.filter(Boolean).map((line) => JSON.parse(line) as Shown);
  return all.find((one) => one["session"] === session);
}

/** Host pids of the processes that have the word as an argument. */
function withWord(word: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  return pids.filter((pid) => readProc(pid, "cmdline").split("\0").includes(word)).map(Number);
}

function readProc(pid: string | number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** Host pids of the sleepers alone, without the programs that were told to start them. */
function sleepers(...seconds: string[]): number[] {
  return seconds.flatMap((word) =>
    withWord(word).filter((pid) => readProc(pid, "comm").trim() === "sleep"),
  );
}

async function eventually(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let look = 0; look < 500; look += 1) {
    if (await holds()) return true;
    await Bun.sleep(20);
  }
  return false;
}

/** A shell that leaves two daemons, out of session and parent, of which one is deaf, and stays. */
function withDaemons(first: string, second: string, own: string): string[] {
  const daemons = `(setsid sh -c 'sleep ${first} & :' &); (setsid sh -c 'trap "" TERM HUP; sleep ${second}' &)`;
  return ["--", "sh", "-c", `${daemons}; exec sleep ${own}`];
}

/** A tree holds the programs, and what is written inside is in memory. */
async function removeTrees({ name, uid }: Person): Promise<void> {
  if (typeof systemd === "string") return;
  await systemd.run(["systemctl", "stop", `user@${uid}.service`]);
  await systemd.run(["rm", "-rf", `/home/${name}/.local`]);
}

const serverPid = async (booted: Booted, person: Person) =>
  (JSON.parse(await as(booted, person, ["ctx", "status", "--json"])) as { server: { pid: number } })
    .server.pid;

describe("a user's terminal", () => {
  afterAll(() => removeTrees(ada));
  const start = ["ctx", "agent", "start", "coder", "--session"];

  test("is a unit of the user's manager that a new server finds again, and stops as a whole", async () => {
    const booted = there();
    if (!booted) return;
    await as(booted, ada, ["ctx", "bootstrap"]);
    // Of type notify: it has started when the server has said that it is ready.
    await as(booted, ada, ["systemctl", "--user", "start", "ctxd.service"]);
    await as(booted, ada, [...start, "main", ...withDaemons("96001", "96002", "96003")]);
    const before = await shown(booted, ada, "main");
    if (before === undefined) throw new Error("no terminal");
    expect(before).toMatchObject({ state: "ready", supervisor: "systemd" });
    expect(before.unit).toMatch(/^cortexfs-terminal-[0-9a-f]{32}\.service$/);
    expect(await eventually(() => sleepers("96001", "96002", "96003").length === 3)).toBe(true);
    const pids = sleepers("96001", "96002", "96003");
    for (const pid of pids) expect(readProc(pid, "cgroup")).toContain(`/${before.unit}`);

    // The receipt names the unit and the invocation that systemd knows, and the launch is its process.
    const runtime = before.socket.replace(/\/terminal\/.*$/, "");
    const receipt = JSON.parse(
      readFileSync(booted.outside(`${runtime}/receipt/coder@main.json`), "utf8"),
    ) as { unit: string; invocation: string; launch: { pid: number } };
    const said = await as(booted, ada, [
      ...["systemctl", "--user", "show", "--property=InvocationID,MainPID", before.unit],
    ]);
    expect(said.trim().split("\n").sort()).toEqual([
      `InvocationID=${receipt.invocation}`,
      `MainPID=${receipt.launch.pid}`,
    ]);

    // A restart, and a crash, of the server's unit: its group is ended, the terminal is none of it.
    const first = await serverPid(booted, ada);
    await as(booted, ada, ["systemctl", "--user", "restart", "ctxd.service"]);
    const second = await serverPid(booted, ada);
    expect(second).not.toBe(first);
    expect(await shown(booted, ada, "main")).toEqual(before);
    await as(booted, ada, ["systemctl", "--user", "kill", "--signal=KILL", "ctxd.service"]);
    const again = async () => {
      const done = await booted.run(["systemctl", "--user", "is-active", "ctxd"], { uid: ada.uid });
      return done.stdout.trim() === "active" && (await serverPid(booted, ada)) !== second;
    };
    expect(await eventually(again)).toBe(true);
    expect(await shown(booted, ada, "main")).toEqual(before);
    expect(sleepers("96001", "96002", "96003").sort()).toEqual([...pids].sort());

    const stopped = ["ctx", "agent", "stop", "coder", "--session", "main"];
    expect(await as(booted, ada, stopped)).toContain("exited");
    expect(sleepers("96001", "96002", "96003")).toEqual([]);
    expect(withWord(receipt.unit.slice(18, -8))).toEqual([]);
    const units = ["systemctl", "--user", "list-units", "--all", "--plain", "--no-legend"];
    expect(await as(booted, ada, [...units, "cortexfs-*"])).toBe("");
    expect(existsSync(booted.outside(`${runtime}/receipt/coder@main.json`))).toBe(false);
    const status = ["ctx", "terminal", "status", "coder", "--session", "main", "--json"];
    expect(JSON.parse(await as(booted, ada, status))).toMatchObject({ state: "exited" });
  });

  test("whose unit has another invocation is lost, and that unit is left alone", async () => {
    const booted = there();
    if (!booted) return;
    await as(booted, ada, [...start, "other", "--", "sleep", "96011"]);
    const facts = await shown(booted, ada, "other");
    if (facts === undefined) throw new Error("no terminal");
    const control = ["systemctl", "--user"];
    await as(booted, ada, [...control, "stop", "ctxd"]);
    await as(booted, ada, [...control, "kill", "--kill-who=all", "--signal=KILL", facts.unit]);
    expect(await eventually(() => withWord("96011").length === 0)).toBe(true);
    // Somebody has the name now.
    const run = ["systemd-run", "--user", "--collect", `--unit=${facts.unit}`, "sleep", "96012"];
    expect(
      await eventually(
        async () =>
          (await booted.run(run, { uid: ada.uid })).exit === 0 || sleepers("96012").length > 0,
      ),
    ).toBe(true);
    await as(booted, ada, [...control, "start", "ctxd"]);
    expect(await shown(booted, ada, "other")).toBeUndefined();
    const done = await booted.run(["ctx", "agent", "stop", "coder", "--session", "other"], {
      ...{ uid: ada.uid, cwd: "/", env: { HOME: `/home/${ada.name}` } },
    });
    expect([done.exit, done.stdout]).toEqual([0, expect.stringContaining("terminal-coder-other")]);
    expect(sleepers("96012")).toHaveLength(1);
    await as(booted, ada, [...control, "stop", facts.unit]);
  });

  test("that cannot start leaves no unit and says why", async () => {
    const booted = there();
    if (!booted) return;
    const env = { HOME: `/home/${ada.name}` };
    const words = [...start, "none", "--", "/no/such/program"];
    const done = await booted.run(words, { uid: ada.uid, cwd: `/home/${ada.name}/work`, env });
    const units = ["systemctl", "--user", "list-units", "--all", "--plain", "--no-legend"];
    expect(await as(booted, ada, [...units, "cortexfs-*"])).toBe("");
    expect(`${done.stdout}${done.stderr}`).toMatch(/exited|no\/such\/program/);
  });
});

describe("a logout", () => {
  afterAll(() => removeTrees(ben));

  /** One login of Ben's and its end. */
  async function login(booted: Booted, script: string): Promise<string> {
    const done = await booted.run(["su", "-l", ben.name, "-c", `cd work && ${script}`]);
    if (done.exit !== 0) throw new Error(`${script}: ${done.stdout}${done.stderr}`);
    return done.stdout;
  }

  /** The server that the login's ctx started, and not the launches of terminals. */
  async function endServer(booted: Booted): Promise<void> {
    const argv = ["pkill", "-TERM", "-u", String(ben.uid), "-f", "/ctxd serve "];
    expect((await booted.run(argv)).exit).toBe(0);
  }

  const doctor = "ctx doctor --json | grep '\"logout\"'";
  const managerRuns = async (booted: Booted) =>
    (await booted.run(["systemctl", "is-active", `user@${ben.uid}.service`])).exit === 0;

  test("ends the terminals of one who does not linger, once no server of the login is left", async () => {
    const booted = there();
    if (!booted) return;
    const said = await login(
      booted,
      `ctx bootstrap && ${doctor} && ctx agent start coder -- sleep 96021`,
    );
    expect(said).toContain('"level":"warn"');
    expect(said).toContain(`loginctl enable-linger ${ben.name}`);
    // The server that ctx started is of the login and keeps it open.
    expect(sleepers("96021")).toHaveLength(1);
    await endServer(booted);
    expect(await eventually(async () => !(await managerRuns(booted)))).toBe(true);
    expect(sleepers("96021")).toEqual([]);
    // Ended as by a stop: its launch was asked, and had the time to write it down.
    const after = JSON.parse(await login(booted, "ctx terminal status coder --json")) as Shown;
    expect(after).toMatchObject({ state: "exited", supervisor: "systemd" });
    expect(await eventually(async () => !(await managerRuns(booted)))).toBe(true);
  });

  test("leaves those of one who lingers, which the next login finds", async () => {
    const booted = there();
    if (!booted) return;
    expect((await booted.run(["loginctl", "enable-linger", ben.name])).exit).toBe(0);
    expect(await eventually(() => managerRuns(booted))).toBe(true);
    const said = await login(booted, `${doctor} && ctx agent start coder -- sleep 96022`);
    expect(said).toContain('"level":"ok"');
    await endServer(booted);
    const sessions = ["loginctl", "list-sessions", "--no-legend"];
    const noLogin = async () => !(await booted.run(sessions)).stdout.includes(ben.name);
    expect(await eventually(noLogin)).toBe(true);
    expect(sleepers("96022")).toHaveLength(1);
    expect(await login(booted, "ctx agent status coder; ctx agent ps coder")).toContain("ready");
    expect(await login(booted, "ctx agent stop coder")).toContain("exited");
    expect(sleepers("96022")).toEqual([]);
  });
});

test("a terminal of the system's server is a unit of the system with the agent's uid", async () => {
  const booted = there();
  if (!booted) return;
  const bootstrap = ["ctx", "bootstrap", systemTree, "--owner", String(eve.uid)];
  expect((await booted.run(bootstrap)).stderr).toBe("");
  expect((await booted.run(["systemctl", "start", "ctxd"])).stderr).toBe("");
  const env = { HOME: `/home/${eve.name}`, CTX_SOURCE: systemTree };
  const eves = async (...argv: string[]) => {
    const done = await booted.run(argv, { uid: eve.uid, env, cwd: `/home/${eve.name}/work` });
    if (done.exit !== 0) throw new Error(`${argv.join(" ")}: ${done.stdout}${done.stderr}`);
    return done.stdout;
  };
  await eves("ctx", "agent", "start", "coder", ...withDaemons("96031", "96032", "96033"));
  expect(await eventually(() => sleepers("96031", "96032", "96033").length === 3)).toBe(true);
  const facts = JSON.parse(await eves("ctx", "agent", "ps", "coder", "--json")) as Shown;
  const shownUnit = await booted.run([
    ...["systemctl", "show", "--property=User,Group,SubState", facts.unit],
  ]);
  expect(shownUnit.stdout.trim().split("\n").sort()).toEqual([
    `Group=${eve.uid}`,
    "SubState=running",
    `User=${eve.uid}`,
  ]);
  const [pid = 0] = sleepers("96033");
  expect(readProc(pid, "status")).toMatch(new RegExp(`^Uid:(\\s+${eve.uid}){4}$`, "m"));
  expect((await booted.run(["systemctl", "restart", "ctxd"])).stderr).toBe("");
  expect(JSON.parse(await eves("ctx", "agent", "ps", "coder", "--json"))).toEqual(facts);
  await eves("ctx", "agent", "stop", "coder");
  expect(sleepers("96031", "96032", "96033")).toEqual([]);
});
