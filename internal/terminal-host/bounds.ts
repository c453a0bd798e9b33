// Bounds of the calls of one terminal.

import { killGraceMs } from "../abi/mod.ts";

/** Calls of one terminal that wait for their turn. Past it `busy`. */
export const callsWaitingMax = 64;

/**
 * Words about what is loaded that wait for their session at a time, for one terminal. Past it `busy`: they
 * wait where the inputs of the session's clients do, and are not to have all of its places.
 */
export const wordsWaitingMax = 4;

/**
 * Milliseconds that a call waits for the terminal's shell when none serves: what one that lost its
 * host needs to find the next one. Past it, and until one comes, calls have sandboxes of their own.
 */
export const shellAbsentMsMax = 5000;

/**
 * Milliseconds from a cancel to the end that the shell tells: the grace of the program, and what the
 * shell needs beside. Past it the shell is taken for dead and its connection is cut.
 */
export const stopMsMax = killGraceMs + 3000;

/** UTF-16 units of one word and of all words that are shown of a call. Past it they are cut. */
export const shownWordMax = 160;
export const shownLineMax = 1024;

/** UTF-16 units of a line that a person is told. Past it the line is cut. */
export const noteMax = 1024;
