// The door of the server: settings, one server of one tree, and what it says about itself.

export { createLog, type Log } from "./log.ts";
export { compileLess } from "./memory.ts";
export { createNotifier, type Notifier } from "./notify.ts";
export type { Parts } from "./parts.ts";
export { type Daemon, type ServeOptions, serve } from "./serve.ts";
export { applySettings, defaultSettings, parseSettings, type Settings } from "./settings.ts";
export { loadSettings } from "./settings-file.ts";
