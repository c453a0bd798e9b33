// Loaded before every test file. In the long form of the tests a property is tried far more often.

/** Cases of one property with CTX_LONG=1; otherwise fast-check's own 100. */
const longRuns = 2000;

export {};

if (process.env["CTX_LONG"] === "1") {
  const { default: fc } = await import("fast-check");
  fc.configureGlobal({ numRuns: longRuns });
}
