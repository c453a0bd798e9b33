import { expect, test } from "bun:test";
import { createCollector } from "./memory.ts";

test("a collector collects once for all that ends within its time, and again for what ends later", async () => {
  let collected = 0;
  let done = () => {};
  const collector = createCollector(() => {
    collected += 1;
    done();
  }, 5);
  for (const round of [1, 2]) {
    const next = new Promise<void>((resolve) => {
      done = resolve;
    });
    for (let work = 0; work < 10; work += 1) collector.touch();
    await next;
    expect(collected).toBe(round);
  }
  collector.close();
});
