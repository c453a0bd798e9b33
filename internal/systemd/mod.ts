// The door of systemd: is a manager there, transient units of it, and what a logout does to them.

export { type Choice, chooseSupervisor } from "./choose.ts";
export { loginFacts } from "./login.ts";
export { type FoundManager, findManager, type ManagerPlace, managerPlace } from "./manager.ts";
export { type LoginFacts, persistence } from "./persistence.ts";
export { createSystemd, type SystemdReceipt, type SystemdSupervisor } from "./supervisor.ts";
