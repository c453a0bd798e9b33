// Who supervises a launch. systemd where it answers, since it then knows of all that lives; the
// built-in supervisor everywhere else.

export interface Choice {
  readonly name: "systemd" | "builtin";
  /** For a person who asks why. */
  readonly because: string;
}

/** What is known of the manager that would be asked: `findManager`'s answer, or less. */
export type ManagerWord =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly reason: string };

export function chooseSupervisor(manager: ManagerWord): Choice {
  return manager.ok
    ? { name: "systemd", because: `systemd ${manager.version} answers` }
    : { name: "builtin", because: manager.reason };
}
