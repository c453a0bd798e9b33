// What characters are written with, as the control sequence that sets it: colours, weights,
// underlines, protection. The bits are the emulator's (its common/buffer/Constants.ts).

import type { Attributes } from "./internals.ts";

const colourMode = 0x3000000;
const colour16 = 0x1000000;
const colour256 = 0x2000000;
const colourRgb = 0x3000000;
const colourBits = 0x3ffffff;

const underlineFlag = 0x10000000;
const extendedFlag = 0x10000000;
const protectedFlag = 0x20000000;

/** Flags of the foreground word and the parameter that sets each. */
const foregroundFlags: readonly (readonly [number, string])[] = [
  [0x8000000, "1"],
  [0x20000000, "5"],
  [0x4000000, "7"],
  [0x40000000, "8"],
  [0x80000000, "9"],
];
const backgroundFlags: readonly (readonly [number, string])[] = [
  [0x8000000, "2"],
  [0x4000000, "3"],
  [0x40000000, "53"],
];

/** Nothing but a background colour: what erasing leaves behind. */
export function isErasure(attributes: Attributes): boolean {
  return attributes.fg === 0 && (attributes.bg & ~colourBits) === 0;
}

export function isProtected(attributes: Attributes): boolean {
  return (attributes.bg & protectedFlag) !== 0;
}

/** The link of a cell; a pen remembers one even where the cell word does not say so. */
export function linkOf(attributes: Attributes): number {
  return (attributes.bg & extendedFlag) === 0 ? 0 : attributes.extended.urlId;
}

/** The parameters of SGR that, after a reset, make these attributes. */
export function renditionOf(attributes: Attributes, isPen = false): string {
  const { fg, bg } = attributes;
  let text = "0";
  for (const [bit, parameter] of foregroundFlags) if ((fg & bit) !== 0) text += `;${parameter}`;
  for (const [bit, parameter] of backgroundFlags) if ((bg & bit) !== 0) text += `;${parameter}`;
  const underline = underlineOf(attributes);
  if (underline === 1) text += ";4";
  else if (underline > 1) text += `;4:${underline}`;
  text += colour(fg, 30) + colour(bg, 40);
  // A cell has a colour of its underline only with an underline; a pen may have it for later.
  if (isPen || (underline > 0 && (bg & extendedFlag) !== 0)) {
    text += underlineColour(attributes.extended.underlineColor);
  }
  return text;
}

/** 0 none, 1 single, 2 double, 3 curly, 4 dotted, 5 dashed. */
function underlineOf({ fg, bg, extended }: Attributes): number {
  if ((fg & underlineFlag) === 0) return 0;
  if ((bg & extendedFlag) === 0) return 1;
  if (extended.urlId === 0) return extended.underlineStyle || 1;
  // A link hides the style that was asked for behind the one links are drawn with.
  const own = extended.clone();
  own.urlId = 0;
  return own.underlineStyle || 1;
}

function colour(word: number, base: number): string {
  const value = word & 0xff;
  switch (word & colourMode) {
    case colour16:
      return `;${value < 8 ? base + value : base + 52 + value}`;
    case colour256:
      return `;${base + 8};5;${value}`;
    case colourRgb:
      return `;${base + 8};2;${(word >>> 16) & 0xff};${(word >>> 8) & 0xff};${value}`;
    default:
      return "";
  }
}

function underlineColour(word: number): string {
  // The emulator keeps "no colour" (59) as all bits set.
  if ((word & colourBits) === colourBits) return "";
  if ((word & colourMode) === colour256) return `;58:5:${word & 0xff}`;
  if ((word & colourMode) !== colourRgb) return "";
  return `;58:2::${(word >>> 16) & 0xff}:${(word >>> 8) & 0xff}:${word & 0xff}`;
}
