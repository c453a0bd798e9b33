// What makes two sends with one id the same request. The session hashes this text and keeps the
// digest with its claim.

import type { Scope, SendRequest } from "./op.ts";

/**
 * A canonical text of everything but the id. The caller passes the effective cwd, so that a
 * default that changed between two attempts is seen as the other request that it is.
 */
export function requestDigestInput(request: SendRequest): string {
  return JSON.stringify([
    request.op,
    request.input,
    request.session,
    scopeText(request.scope),
    request.cwd ?? null,
    request.workspace ?? null,
  ]);
}

function scopeText(scope: Scope): string {
  return scope.kind === "shared" ? `shared:${scope.space}` : scope.kind;
}
