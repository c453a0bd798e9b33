// Limits of a unit, for the controllers that the manager was given; systemd takes the others without a
// word and does nothing, so they are left out and what is asked for is what is in force.

export interface Limits {
  readonly memoryBytesMax?: number;
  readonly tasksMax?: number;
  /** Percent of one processor. */
  readonly cpuPercentMax?: number;
}

/** Properties for systemd-run. */
export function limitProperties(limits: Limits, controllers: readonly string[]): string[] {
  const { memoryBytesMax, tasksMax, cpuPercentMax } = limits;
  const wanted: [string, string, number | undefined, string][] = [
    ["memory", "MemoryMax", memoryBytesMax, ""],
    ["pids", "TasksMax", tasksMax, ""],
    ["cpu", "CPUQuota", cpuPercentMax, "%"],
  ];
  return wanted.flatMap(([controller, property, value, unit]) =>
    value === undefined || !controllers.includes(controller) ? [] : [`${property}=${value}${unit}`],
  );
}
