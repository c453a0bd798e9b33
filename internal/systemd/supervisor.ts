// Transient units as launches: start, find, end. systemd is the truth about what lives; a receipt says
// which unit, and which invocation of it, is ours. One of another invocation is never touched.

import { fail } from "../abi/mod.ts";
import { type ProcessStamp, processFacts, sameProcess } from "../os/mod.ts";
import { chooseSupervisor } from "./choose.ts";
import { groupProcesses } from "./groups.ts";
import { type FoundManager, findManager, type ManagerPlace, managerPlace } from "./manager.ts";
import { type Called, call, program } from "./programs.ts";
import { runArguments, type UnitSpec } from "./run-arguments.ts";
import { parseShow, type UnitFacts, unitFacts, unitProperties } from "./show.ts";
import { bareUnit, isUnitOf, patternOf, serviceOf } from "./unit-name.ts";

/** From the call until the manager has executed the program. Past it the start has failed. */
const startMsMax = 15_000;

/** A question about a unit. */
const askMsMax = 5000;

/** The unit's own time to stop and then to be killed, with room for a busy manager. */
const stopMsMax = 30_000;

/** How long after a start its end is watched for, to say why; later its resource tells. */
const watchMsMax = 15_000;

/** Between two looks of that watch, at one file of /proc. */
const watchPollMs = 25;

/** Lines of the journal that are told of a launch that ended at once. */
const journalLines = 10;

/** How often, and how far apart, the journal is looked at for them. */
const journalLooks = 5;
const journalPollMs = 100;

export interface SystemdReceipt {
  readonly unit?: string;
  readonly invocation?: string;
  readonly launch?: ProcessStamp;
  readonly root?: ProcessStamp;
  readonly init?: ProcessStamp;
  readonly generation: string;
}

export interface SystemdStarted {
  readonly pid?: number;
  readonly unit: string;
  readonly invocation?: string;
  /** Resolves when it ends soon after its start, with what it said at that. */
  readonly ended: Promise<string>;
}

export interface SystemdSupervisor<Known extends SystemdReceipt = SystemdReceipt> {
  readonly name: "systemd";
  /** Whether a manager answers that can start units as that uid. */
  usable(uid: number): Promise<boolean>;
  start(spec: UnitSpec): Promise<SystemdStarted>;
  /** All of the unit's group is gone when it resolves. Another invocation's is left alone. */
  stop(receipt: Known): Promise<void>;
  alive(receipt: Known): Promise<boolean>;
}

export interface SystemdOptions<Known extends SystemdReceipt = SystemdReceipt> {
  /** Of this process: root asks the system's manager, everybody else their own. */
  readonly uid: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Ends processes by their stamps: of a receipt whose unit no manager knows, while they are there, as
   * after a manager that was killed.
   */
  readonly orphans: (receipt: Known) => Promise<void>;
}

export function createSystemd<Known extends SystemdReceipt>({
  uid,
  env,
  orphans,
}: SystemdOptions<Known>): SystemdSupervisor<Known> {
  const place = managerPlace(uid, env);
  const units = typeof place === "string" ? undefined : new Units(place);
  let manager: FoundManager | undefined;
  const find = async () => {
    manager = await findManager(uid, env);
    return manager;
  };
  return {
    name: "systemd",
    async usable(asUid) {
      if (uid !== 0 && asUid !== uid) return false;
      return chooseSupervisor(await find()).name === "systemd";
    },
    async start(spec) {
      const found = manager ?? (await find());
      if (units !== undefined && found.ok) return units.start(spec, found.controllers);
      return fail("EHOSTDOWN", `no systemd manager: ${found.ok ? place : found.reason}`);
    },
    async stop(receipt) {
      await units?.stop(receipt);
      if (stampsLive(receipt)) await orphans(receipt);
    },
    async alive(receipt) {
      return (await units?.owned(receipt))?.active === true || stampsLive(receipt);
    },
  };
}

function stampsLive({ launch, root, init }: SystemdReceipt): boolean {
  return [launch, root, init].some((stamp) => stamp !== undefined && sameProcess(stamp));
}

class Units {
  readonly #place: ManagerPlace;

  constructor(place: ManagerPlace) {
    this.#place = place;
  }

  async start(spec: UnitSpec, controllers: readonly string[]): Promise<SystemdStarted> {
    const { scope, uid, env } = this.#place;
    if (scope === "user" && spec.uid !== uid) {
      fail("EACCES", `the manager of uid ${uid} starts nothing as uid ${spec.uid}`);
    }
    const programs = {
      systemdRun: needed("systemd-run"),
      env: needed("env"),
      setpriv: scope === "system" ? needed("setpriv") : "",
    };
    const unit = serviceOf(spec.unit);
    const argv = runArguments(spec, scope, controllers, programs);
    const { exit, stderr } = await call(argv, env, startMsMax);
    if (exit !== 0) {
      const why = stderr.trim() || `no answer in ${startMsMax / 1000} s`;
      fail("EHOSTDOWN", `systemd did not start unit "${unit}": ${why}`, {
        hint: `see journalctl --identifier=${bareUnit(unit)}`,
      });
    }
    const facts = await this.#facts(unit);
    const stamp = facts?.pid === undefined ? undefined : processFacts(facts.pid);
    return {
      unit,
      ...(stamp === undefined ? {} : { pid: stamp.pid }),
      ...(facts?.invocation === undefined ? {} : { invocation: facts.invocation }),
      ended: this.#lastWords(unit, stamp),
    };
  }

  /** The unit, when it is the receipt's; undefined also when the manager does not answer. */
  async owned(receipt: SystemdReceipt): Promise<UnitFacts | undefined> {
    const { unit, generation } = receipt;
    // A start that was cut may have no name in its receipt yet.
    const facts = await this.#facts(unit === undefined ? patternOf(generation) : serviceOf(unit));
    return facts !== undefined && isOwned(receipt, facts) ? facts : undefined;
  }

  /** Does nothing when the unit is not there or is of another invocation. */
  async stop(receipt: SystemdReceipt): Promise<void> {
    const facts = await this.owned(receipt);
    if (facts === undefined || !facts.active) return;
    const { name, group } = facts;
    const { exit, stderr } = await this.#systemctl(["stop", "--", name], stopMsMax);
    if ((await this.owned(receipt))?.active === true) {
      const why = stderr.trim() || (exit === undefined ? "it takes too long" : `status ${exit}`);
      fail("EIO", `unit "${name}" did not stop: ${why}`, { hint: `see systemctl status ${name}` });
    }
    // systemd gives up on what SIGKILL does not end and calls the unit failed.
    const left = group === undefined ? [] : groupProcesses(group);
    if (left.length > 0) fail("EIO", `process ${left.join(", ")} of unit "${name}" did not end`);
  }

  async #facts(unit: string): Promise<UnitFacts | undefined> {
    const wanted = unitProperties.map((name) => `--property=${name}`);
    const { stdout } = await this.#systemctl(["show", ...wanted, "--", unit], askMsMax);
    return unitFacts(parseShow(stdout));
  }

  #systemctl(words: readonly string[], msMax: number): Promise<Called> {
    const { scope, env } = this.#place;
    const systemctl = program("systemctl");
    const nothing = { exit: undefined, stdout: "", stderr: "systemctl is not installed" };
    if (systemctl === undefined) return Promise.resolve(nothing);
    return call([systemctl, `--${scope}`, "--no-ask-password", ...words], env, msMax);
  }

  /** Pending for ever when it outlives the watch. */
  async #lastWords(unit: string, stamp: ProcessStamp | undefined): Promise<string> {
    const until = performance.now() + watchMsMax;
    while (stamp !== undefined && sameProcess(stamp)) {
      if (performance.now() >= until) return new Promise<string>(() => {});
      await Bun.sleep(watchPollMs);
    }
    return this.#journal(unit);
  }

  /** The last lines of it; empty also when the journal is not this user's to read. */
  async #journal(unit: string): Promise<string> {
    const journalctl = program("journalctl");
    if (journalctl === undefined) return "";
    const { scope, env } = this.#place;
    // What a user's unit of the system said may be in the journal of that user: root reads all.
    const files = scope === "user" ? ["--user"] : [];
    const which = [...files, `--identifier=${bareUnit(unit)}`, `--lines=${journalLines}`];
    const argv = [journalctl, ...which, "--quiet", "--no-pager", "--output=cat"];
    // What was said reaches the journal a little later than the end is seen.
    for (let look = 0; look < journalLooks; look += 1) {
      const text = (await call(argv, env, askMsMax)).stdout.trim();
      if (text !== "") return text;
      await Bun.sleep(journalPollMs);
    }
    return "";
  }
}

/** The invocation says it; of a start that was cut before that was known, the name does. */
export function isOwned(receipt: SystemdReceipt, facts: UnitFacts): boolean {
  if (receipt.invocation !== undefined) return facts.invocation === receipt.invocation;
  return isUnitOf(facts.name, receipt.generation);
}

function needed(name: string): string {
  return (
    program(name) ??
    fail("EHOSTDOWN", `"${name}" is not installed`, { hint: "apt-get install systemd util-linux" })
  );
}
