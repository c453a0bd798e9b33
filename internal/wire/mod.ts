// The door of the full wires: schemas, judges and codecs of op, interaction v1 and interaction v2.
// It loads zod, so a program that must start at once imports it late or not at all.

// op
export { canonicalOp, judgeOp } from "./op-judge.ts";

// interaction v1
export { V1Encoder } from "./v1-encode.ts";
export { canonicalV1, judgeV1 } from "./v1-judge.ts";
export { type DecodedV1, decodeV1Line, type V1Request, type V1Result } from "./v1-request.ts";
export { v1Abi } from "./v1-shapes.ts";

// interaction v2
export {
  type DecodedV2,
  decodeV2Line,
  judgeV2,
  type V2Attribution,
} from "./v2-decode.ts";
export { canonicalV2, encodeV2Frame } from "./v2-encode.ts";
export { v2Abi, v2Capabilities, v2LineBytesMax } from "./v2-fields.ts";
export type * from "./v2-frame.ts";
export {
  v2EventBytesMax,
  v2IdentifierBytesMax,
  v2MetadataBytesMax,
  v2NestingMax,
  v2OriginTextBytesMax,
  v2PathBytesMax,
} from "./v2-rules.ts";
