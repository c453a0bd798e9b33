// What a screen may cost, whatever is written to it.

/** Columns of a screen; a client that asks for more gets these. */
const screenColumnsMax = 1_000;

/** Rows of a screen; a client that asks for more gets these. */
const screenRowsMax = 500;

/**
 * Cells of a screen; rows give way. A snapshot of so many, each of another colour, is 5 MB and
 * takes 0.2 s; the largest monitor of today with the smallest letters shows 120,000.
 */
const screenCellsMax = 150_000;

/** Bytes that wait to be parsed. Past it the oldest are skipped and the screen is approximate. */
export const backlogBytesMax = 256 * 1024;

/** Bytes parsed in one turn of the event loop, about 1 ms: output and clients come in between. */
export const parseSliceBytes = 16 * 1024;

/** The share of the time that following the output may take, on the loop that moves it too. */
export const parseShare = 0.15;

/** Milliseconds of parsing saved up in a quiet time, so that a large listing is followed whole. */
export const parseBurstMs = 80;

/** Milliseconds of parsing for snapshots that are made up for later by not following. */
export const parseDebtMs = 1_000;

/** Bytes that came before the emulator was there. Past it the oldest are let go. */
export const earlyBytesMax = 1024 * 1024;

/** A child that writes fewer bytes a second than this is followed again after a flood. */
export const calmBytesPerSecond = 4 * 1024 * 1024;

/** Milliseconds between two looks whether a flood has ended. */
export const floodLookMs = 50;

/** Bytes of an unfinished control string. Past it the string is swallowed and means nothing. */
export const controlStringBytesMax = 64 * 1024;

/** Characters of a title; a longer one is ignored. */
export const titleCharactersMax = 1_024;

/** Links that cells may name. Past it, and after a sweep, new links are plain text. */
export const linksMax = 2_048;

/** Characters of one link's address and id together; a longer link is plain text. */
export const linkCharactersMax = 2_048;

/** Combining marks in one cell; the next one gets a cell of its own. */
export const marksInCellMax = 16;

/** Colours that were set by control strings and are told to a joiner. */
export const paletteEntriesMax = 300;

/** Pushed keyboard modes that are told to a joiner, each screen. */
export const keyboardStackMax = 16;

export interface ScreenSize {
  readonly cols: number;
  readonly rows: number;
}

/** The size a screen really takes: at least what a wide character needs, at most the bounds. */
export function clampSize(wantedCols: number, wantedRows: number): ScreenSize {
  const within = (value: number, min: number, max: number) =>
    Math.min(max, Math.max(min, Number.isFinite(value) ? Math.trunc(value) : min));
  const cols = within(wantedCols, 2, screenColumnsMax);
  const rowsMax = Math.min(screenRowsMax, Math.floor(screenCellsMax / cols));
  return { cols, rows: within(wantedRows, 1, rowsMax) };
}
