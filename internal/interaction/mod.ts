// The door of the interaction protocol: neutral requests and frames, and the codec of the op wire.

export { type DecodedOp, decodeOpLine } from "./decode.ts";
export { requestDigestInput } from "./digest.ts";
export { encodeFrame } from "./encode.ts";
export { requestPathBytesMax } from "./fields.ts";
export * from "./op.ts";
