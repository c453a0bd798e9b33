import { expect, test } from "bun:test";
import fc from "fast-check";
import { limitProperties } from "./limits.ts";
import { runArguments, type UnitSpec } from "./run-arguments.ts";
import { bareUnit, isUnitOf, patternOf, serviceOf } from "./unit-name.ts";

const programs = {
  systemdRun: "/usr/bin/systemd-run",
  env: "/usr/bin/env",
  setpriv: "/usr/bin/setpriv",
};

const generation = "0123456789abcdef".repeat(2);

const spec: UnitSpec = {
  argv: ["/opt/ctxd", "launch", "--ticket", "a$b"],
  uid: 1000,
  gid: 1001,
  groups: [27, 44],
  unit: `cortexfs-terminal-${generation}`,
  description: "terminal of agent coder, session default",
  limits: { memoryBytesMax: 1024, tasksMax: 7, cpuPercentMax: 150 },
};

const common = [
  "--quiet",
  "--no-ask-password",
  "--collect",
  "--service-type=exec",
  `--unit=cortexfs-terminal-${generation}.service`,
  "--description=terminal of agent coder, session default",
  "--property=KillMode=mixed",
  "--property=TimeoutStopSec=5",
  "--property=OOMPolicy=continue",
  "--property=IgnoreSIGPIPE=no",
  "--property=UMask=0077",
  `--property=SyslogIdentifier=cortexfs-terminal-${generation}`,
  "--property=WorkingDirectory=/",
];

const command = [
  "/usr/bin/env",
  "-i",
  "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
  ...["/opt/ctxd", "launch", "--ticket", "a$$b"],
];

test("a user's manager is asked for the launch alone, without limits where it has no controllers", () => {
  expect(runArguments(spec, "user", [], programs)).toEqual([
    "/usr/bin/systemd-run",
    "--user",
    ...common,
    "--",
    ...command,
  ]);
});

test("the system's manager is asked for the uid, and the first program sets exactly the groups", () => {
  expect(runArguments(spec, "system", ["memory", "pids"], programs)).toEqual([
    "/usr/bin/systemd-run",
    ...["--system", "--uid=1000", "--gid=1001"],
    ...common,
    ...["--property=MemoryMax=1024", "--property=TasksMax=7"],
    "--property=AmbientCapabilities=CAP_SETGID",
    "--",
    ...["/usr/bin/setpriv", "--groups=27,44", "--inh-caps=-all", "--"],
    ...command,
  ]);
  const alone = runArguments({ ...spec, groups: [] }, "system", [], programs);
  expect(alone).toContain("--clear-groups");
});

test("each limit is asked for with its controller and never without", () => {
  const named = { memory: "MemoryMax=1024", pids: "TasksMax=7", cpu: "CPUQuota=150%" };
  for (const [controller, property] of Object.entries(named)) {
    expect(limitProperties(spec.limits, [controller, "io"])).toEqual([property]);
  }
  expect(limitProperties(spec.limits, Object.keys(named))).toEqual(Object.values(named));
  expect(limitProperties({}, Object.keys(named))).toEqual([]);
});

test("no word of a launch is more to systemd than itself: every dollar is doubled", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom("$", "{", "}", "%", "a", " ") })),
      (argv) => {
        const words = runArguments({ ...spec, argv }, "user", [], programs);
        const given = words.slice(words.length - argv.length);
        expect(given.map((word) => word.replaceAll("$$", "$"))).toEqual(argv);
        const runs = given.flatMap((word) => word.match(/\$+/g) ?? []);
        expect(runs.filter((run) => run.length % 2 !== 0)).toEqual([]);
      },
    ),
  );
});

test("a unit's name is one word of systemd's alphabet and bounded", () => {
  expect(serviceOf("a.service")).toBe("a.service");
  expect(serviceOf(`${"a".repeat(200)}`)).toBe(`${"a".repeat(200)}.service`);
  for (const odd of ["", "-x", "a b", "a*", "a/b", "a@b", "a\\x2db", "a\n", "a".repeat(201)]) {
    expect(() => bareUnit(odd)).toThrow(/is not valid/);
  }
});

test("a unit is a launch's when its name ends in the generation", () => {
  expect(patternOf(generation)).toBe(`*-${generation}.service`);
  expect(isUnitOf(`x-${generation}.service`, generation)).toBe(true);
  expect(isUnitOf(`x${generation}.service`, generation)).toBe(false);
  expect(isUnitOf(`x-${generation}.scope`, generation)).toBe(false);
  // A pattern of everything would meet units that are nobody's.
  for (const odd of ["", "*", "0*", "0123"]) expect(() => patternOf(odd)).toThrow(/is not valid/);
});
