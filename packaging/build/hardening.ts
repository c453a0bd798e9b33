// What is changed in a copy of the bun binary before programs are compiled onto it. A compiled
// program otherwise obeys variables that make it run foreign code, open a debugger, print request
// headers or write files. Every change keeps the length and is counted: when an upgrade of bun
// moves or doubles one of these places, the build stops and says which.

/**
 * Environment names that a compiled program must not see. `BUN_OPTIONS`, `BUN_BE_BUN` and
 * `BUN_INSPECT_PRELOAD` run foreign code; the other inspector names open a debugger to any local
 * process or dial out to one; `BUN_CONFIG_VERBOSE_FETCH` prints requests with their API key; the
 * `_OUT` and `TRACE` names write files; `NODE_CHANNEL_FD` speaks IPC on a descriptor of the
 * caller's choice; the rest reports crashes elsewhere or opens internals.
 */
export const deafNames = [
  "BUN_OPTIONS",
  "BUN_BE_BUN",
  "BUN_INSPECT",
  "BUN_INSPECT_CONNECT_TO",
  "BUN_INSPECT_PRELOAD",
  "BUN_CONFIG_VERBOSE_FETCH",
  "BUN_BYTECODE_ORDER_OUT",
  "BUN_BYTECODE_ORDER_NAMES_OUT",
  "BUN_BYTECODE_DIGEST_OUT",
  "BUN_WATCHER_TRACE",
  "BUN_TRACE",
  "NODE_CHANNEL_FD",
  "BUN_CRASH_REPORT_URL",
  "BUN_ENABLE_CRASH_REPORTING",
  "BUN_FEATURE_FLAG_INTERNAL_FOR_TESTING",
  "LSQUIC_LOG_SECRETS",
] as const;

/**
 * How often each name occurs as a C string, the form that is looked up. Other occurrences are
 * messages and a list of names to hide from children, which stay as they are.
 */
const cStringsOfName = 1;

/** A name that is looked up in a second form, told by the text that the linker put after it. */
const secondForm = "BUN_CONFIG_VERBOSE_FETCH[unknown]";

/** Code that compares the start of each environment entry with `BUN_JSC_`, by machine. */
const engineOptionSites: Readonly<Record<string, { pattern: RegExp; branch: number; to: number }>> =
  {
    // cmpb $'B',(%r14); jne next; cmpb $'U',1(%r14); … The jne becomes a jmp, so that no entry is
    // ever taken for an engine option (one of them, functionOverrides, replaces function bodies).
    x64: {
      pattern:
        /\x41\x80\x3e\x42\x75.\x41\x80\x7e\x01\x55\x75.\x41\x80\x7e\x02\x4e\x75.\x41\x80\x7e\x03\x5f/gs,
      branch: 4,
      to: 0xeb,
    },
    // cmp w10,#'B'; b.ne next; ldrb; cmp w10,#'U'; … The condition "ne" becomes "always".
    arm64: {
      pattern:
        /\x5f\x09\x01\x71\x01.{2}\x54.{4}\x5f\x55\x01\x71.{8}\x5f\x39\x01\x71.{8}\x5f\x7d\x01\x71/gs,
      branch: 4,
      to: 0x0e,
    },
  };

/** Changes `binary` in place. Throws when a place is not found exactly as often as it should be. */
export function harden(binary: Buffer, arch: string): void {
  for (const name of deafNames) {
    const places = placesOf(binary, Buffer.from(`\0${name}\0`));
    expectCount(name, places.length, cStringsOfName);
    // An empty name is never in an environment. Only the first byte is changed: the linker shares
    // tails of strings, so a shorter name may live in the end of this one.
    for (const place of places) binary[place + 1] = 0;
  }
  const second = placesOf(binary, Buffer.from(secondForm));
  expectCount(secondForm, second.length, 1);
  for (const place of second) binary[place] = 0;
  const site = engineOptionSites[arch];
  if (site === undefined) throw new Error(`bun for ${arch} has no hardening here`);
  const found = [...binary.toString("latin1").matchAll(site.pattern)];
  expectCount("BUN_JSC_ (code)", found.length, 1);
  for (const match of found) binary[match.index + site.branch] = site.to;
}

function placesOf(binary: Buffer, needle: Buffer): number[] {
  const places: number[] = [];
  for (let at = binary.indexOf(needle); at >= 0; at = binary.indexOf(needle, at + 1)) {
    places.push(at);
  }
  return places;
}

function expectCount(what: string, found: number, wanted: number): void {
  if (found === wanted) return;
  throw new Error(
    `bun's binary has ${what} ${found} times instead of ${wanted}: read the new version before ` +
      "changing packaging/build/hardening.ts",
  );
}
