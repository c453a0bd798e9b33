// A launch as a value. `bwrapArguments` turns it into an argument list and nothing else; whoever
// builds the spec has validated it. Every path is absolute; host paths are already resolved.

export interface Bind {
  readonly host: string;
  readonly view: string;
  readonly access: "ro" | "rw";
  readonly noexec?: boolean;
  readonly recursive?: boolean;
}

/** An executable that no folder of the host holds in a form that can be run. */
export interface GeneratedProgram {
  readonly view: string;
  readonly content: string;
}

export interface SandboxSpec {
  /** Read-only host trees for programs: /usr and how /bin, /lib… are linked on this host. */
  readonly system: {
    readonly binds: readonly Bind[];
    readonly links: readonly { readonly target: string; readonly view: string }[];
  };
  /** Generated folder that becomes /etc, read-only. */
  readonly etc: string;
  /** Generated folder that becomes /ctx, read-only, with binds over it for the binaries. */
  readonly view: string;
  /**
   * Each lies over the file of that name in the view: where the host's folder is mounted noexec, as
   * /run is on many hosts, a bind of it keeps that.
   */
  readonly programs: readonly GeneratedProgram[];
  /** In order; later ones lie over earlier ones. */
  readonly binds: readonly Bind[];
  readonly cwd: string;
  readonly env: ReadonlyMap<string, string>;
  readonly network: "none" | "granted";
  /** Adds read-only binds of /proc/sysrq-trigger, /proc/irq and /proc/bus (`root_agents=allow`). */
  readonly maskProc: boolean;
  readonly tmpBytes: number;
  readonly shmBytes: number;
}

/** Descriptor numbers as the child sees them. */
export interface SandboxDescriptors {
  readonly block: number;
  readonly seccomp: number;
  /** The first generated program; the others follow. */
  readonly programs: number;
}
