import { expect, test } from "bun:test";
import { createScreen } from "./mod.ts";

test("a snapshot shows what was pushed before it was asked for", async () => {
  const screen = createScreen({ cols: 20, rows: 3 });
  screen.push(Buffer.from("hello \x1b[31mred"));
  const { bytes, cols, rows } = await screen.snapshot();
  screen.close();
  expect({ cols, rows }).toEqual({ cols: 20, rows: 3 });
  expect(Buffer.from(bytes).toString()).toContain("hello \x1b[0;31mred");
});
