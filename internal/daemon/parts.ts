// The services that the server wires together, as it needs them. Tests put their own in; the real
// ones are loaded when the server starts, not when this file is.

export interface Parts {
  createLauncher: typeof import("../launch/mod.ts")["createLauncher"];
  createExecutor: typeof import("../run/mod.ts")["createExecutor"];
  createSessions: typeof import("../session/mod.ts")["createSessions"];
  createRunSockets: typeof import("../run-socket/mod.ts")["createRunSockets"];
  createToolServers: typeof import("../mcp-host/mod.ts")["createToolServers"];
  createTerminalHost: typeof import("../terminal-host/mod.ts")["createTerminalHost"];
  createTerminals: typeof import("../supervise/mod.ts")["createTerminals"];
}

export async function loadParts(given: Partial<Parts>): Promise<Parts> {
  const [launch, run, session, runSocket, host, supervise, mcpHost] = await Promise.all([
    given.createLauncher ? undefined : import("../launch/mod.ts"),
    given.createExecutor ? undefined : import("../run/mod.ts"),
    given.createSessions ? undefined : import("../session/mod.ts"),
    given.createRunSockets ? undefined : import("../run-socket/mod.ts"),
    given.createTerminalHost ? undefined : import("../terminal-host/mod.ts"),
    given.createTerminals ? undefined : import("../supervise/mod.ts"),
    given.createToolServers ? undefined : import("../mcp-host/mod.ts"),
  ]);
  return {
    createLauncher: given.createLauncher ?? (launch as NonNullable<typeof launch>).createLauncher,
    createExecutor: given.createExecutor ?? (run as NonNullable<typeof run>).createExecutor,
    createSessions: given.createSessions ?? (session as NonNullable<typeof session>).createSessions,
    createRunSockets:
      given.createRunSockets ?? (runSocket as NonNullable<typeof runSocket>).createRunSockets,
    createTerminalHost:
      given.createTerminalHost ?? (host as NonNullable<typeof host>).createTerminalHost,
    createToolServers:
      given.createToolServers ?? (mcpHost as NonNullable<typeof mcpHost>).createToolServers,
    createTerminals:
      given.createTerminals ?? (supervise as NonNullable<typeof supervise>).createTerminals,
  };
}
