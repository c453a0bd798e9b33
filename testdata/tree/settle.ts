// Files that were just written are not remembered: a test that wants them to be waits for it.

/** Waits until what was just written is old enough to be kept. */
export async function settle(): Promise<void> {
  const until = performance.now() + 60;
  while (performance.now() < until) await Bun.sleep(5);
}
