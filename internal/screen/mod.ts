// The door of the screen: what a terminal looks like now, for somebody who joins it.

export { clampSize, type ScreenSize } from "./limits.ts";
export { createScreen, type Screen, type ScreenOptions, type Snapshot } from "./screen.ts";
