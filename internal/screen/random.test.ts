// Random terminal output, sequences of every kind in any order: a snapshot at any point and what
// comes after it make the same terminal as all of it.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { faultsOfSnapshot } from "../../testdata/terminal/replay.ts";

const runs = process.env["CTX_LONG"] === "1" ? 20_000 : 150;

const number = fc.integer({ min: 0, max: 14 });
const narrow = fc.constantFrom("a", "abc", "hello world", "e\u0301", "ﾊ", "│─┘", "é", "q", "#");
const wide = fc.constantFrom("漢字", "😀", "漢\u0301", "x".repeat(20), "\u0301");
const control = fc.constantFrom("\r", "\n", "\b", "\t", "\x0e", "\x0f", "\x07", "\r\n");
const sequence = fc
  .tuple(fc.constantFrom(..."@ABCDEFGHIJKLMPSTXZ`abdefgmrs"), fc.array(number, { maxLength: 3 }))
  .map(([final, parameters]) => `\x1b[${parameters.join(";")}${final}`);
const looks = [
  ...["0", "1", "2", "3", "4", "4:3", "4:5", "5", "7", "8", "9", "21", "22", "24", "27", "53"],
  ...["31", "42", "95", "106", "39", "49", "38;5;100", "48;5;200", "38;2;1;2;3", "48;2;4;5;6"],
  ...["58:5:9", "58:2::7:8:9"],
];
const rendition = fc
  .array(fc.constantFrom(...looks), { minLength: 1, maxLength: 4 })
  .map((parameters) => `\x1b[${parameters.join(";")}m`);
const modes = [
  ...[1, 6, 12, 25, 45, 47, 66, 9, 1000, 1002, 1003, 1004, 1006, 1016, 1047, 2004, 2026],
];
const mode = fc
  .tuple(fc.constantFrom(...modes), fc.constantFrom("h", "l"))
  .map(([number, final]) => `\x1b[?${number}${final}`);
const other = fc.constantFrom(
  ...["\x1b[4h", "\x1b[4l", "\x1b[20h", "\x1b[20l", "\x1b[2 q", "\x1b[5 q", "\x1b[0 q", "\x1b[!p"],
  ...['\x1b[1"q', '\x1b[0"q', "\x1b[?J", "\x1b[?K", "\x1b[2 @", "\x1b[2 A", "\x1b[2'}", "\x1b[2'~"],
  ...["\x1b7", "\x1bD", "\x1bE", "\x1bM", "\x1bH", "\x1b=", "\x1b>", "\x1b(0", "\x1b(B", "\x1b)0"],
  ...["\x1b)B", "\x1b(A", "\x1b*0", "\x1bn", "\x1bo", "\x1b#8", "\x1bc", "\x84", "\x9b31m"],
  ...["\x1b]0;title\x07", "\x1b]2;two\x1b\\", "\x1b]1;icon\x07", "\x1b[22;0t", "\x1b[23;0t"],
  ...["\x1bPq123\x1b\\", "\x1b_Gabc\x1b\\", "\x1b]4;1;#ff0000\x07"],
);
// What the emulator itself does not do alike twice is not mixed: restoring a cursor drops a link
// until the next rendition, and a wide character that does not fit is lost where lines do not wrap.
const link = fc.constantFrom(
  ...["\x1b]8;;http://a\x07", "\x1b]8;id=1;http://b\x07", "\x1b]8;;\x07"],
);
const restore = fc.constantFrom(
  "\x1b8",
  "\x1b[u",
  "\x1b[?1048h",
  "\x1b[?1048l",
  "\x1b[?1049h",
  "\x1b[?1049l",
);
const wrapping = fc.constantFrom("\x1b[?7l", "\x1b[?7h");

const output = fc
  .tuple(fc.constantFrom(link, restore), fc.constantFrom(wide, wrapping))
  .chain(([either, or]) =>
    fc.array(
      fc.oneof(
        { weight: 5, arbitrary: narrow },
        { weight: 5, arbitrary: sequence },
        { weight: 3, arbitrary: rendition },
        { weight: 2, arbitrary: control },
        { weight: 2, arbitrary: mode },
        { weight: 3, arbitrary: other },
        { weight: 1, arbitrary: either },
        { weight: 2, arbitrary: or },
      ),
      { maxLength: 40 },
    ),
  );

const size = fc.record({
  cols: fc.integer({ min: 2, max: 20 }),
  rows: fc.integer({ min: 1, max: 8 }),
});

test("random output, cut anywhere, is the same for a joiner", async () => {
  await fc.assert(
    fc.asyncProperty(output, fc.nat(), size, async (pieces, point, { cols, rows }) => {
      const bytes = Buffer.from(pieces.join(""));
      const cut = point % (bytes.length + 1);
      expect(await faultsOfSnapshot({ cols, rows, bytes }, cut)).toEqual([]);
    }),
    { numRuns: runs },
  );
}, 600_000);

test("a joiner may also come after another size was taken", async () => {
  await fc.assert(
    fc.asyncProperty(
      output,
      fc.nat(),
      fc.nat(),
      size,
      size,
      async (pieces, turn, point, from, to) => {
        const half = turn % (pieces.length + 1);
        const before = pieces.slice(0, half).join("");
        const at = Buffer.byteLength(before);
        // A mark that follows a new size would join whatever moved to its left; programs draw anew.
        const bytes = Buffer.from(`${before}\x1b[m${pieces.join("")}`);
        const cut = at + 3 + (point % (bytes.length - at - 2));
        const recording = { ...from, bytes, resizes: [{ at, ...to }] };
        expect(await faultsOfSnapshot(recording, cut)).toEqual([]);
      },
    ),
    { numRuns: Math.ceil(runs / 3) },
  );
}, 600_000);
