// Bounds that more than one file here needs.

/** Terminals of one user that live at a time. Past it `busy`. */
export const terminalsMax = 8;
