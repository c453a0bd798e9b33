// What must come of each line of probes.py, in every sandbox: of a call, of a step, of a terminal.

/** Name of a probe to what must come of it. */
export type Expectations = Readonly<Record<string, string>>;

/** `fence`: whether the kernel can keep sandboxes from handing descriptors to each other. */
export function expectations(fence: boolean): Expectations {
  return {
    ...facts(fence),
    ...refusedCalls,
    ...refusedSockets,
    ...sharedSockets(fence),
    ...refusedFiles(fence),
  };
}

const refusedCalls: Expectations = {
  ...Object.fromEntries(
    ["keyctl", "ptrace", "process_vm_readv", "pidfd_getfd", "userfaultfd", "perf_event_open"]
      .concat(["bpf", "mount", "umount2", "open_tree", "move_mount", "fsopen", "fsmount"])
      .concat(["mount_setattr", "kexec_load", "open_by_handle_at", "syslog"])
      .concat(["TIOCSTI", "TIOCSTI with high bits", "TIOCLINUX", "unshare mount"])
      .map((name) => [name, "EPERM"]),
  ),
  "unshare user": "ENOSPC",
  io_uring_setup: "ENOSYS",
};

const refusedSockets: Expectations = Object.fromEntries(
  ["socket inet", "socket inet6", "socket packet", "socket vsock", "socket netlink route"]
    .concat(["socket netlink audit", "socket alg", "socket bluetooth", "socketpair inet"])
    .map((name) => [name, "EAFNOSUPPORT"]),
);

/** A socket in a folder that sandboxes share would hand open folders from one to the other. */
function sharedSockets(fence: boolean): Expectations {
  return Object.fromEntries(
    [
      ["/workspace", fence ? "EACCES" : "allowed"],
      ["/home/agent", fence ? "EACCES" : "allowed"],
      ["/tmp", "allowed"],
      ["/dev/shm", "allowed"],
    ].flatMap(([folder, what]) => [
      [`make a socket in ${folder}`, what],
      [`make a socket node in ${folder}`, what],
      [`move between folders of ${folder}`, "allowed"],
    ]),
  ) as Expectations;
}

function refusedFiles(fence: boolean): Expectations {
  return {
    "append to events.jsonl": "EROFS",
    "unlink events.jsonl": "EROFS",
    "move events.jsonl": "EXDEV",
    "link over events.jsonl": "EROFS",
    "move session": "EBUSY",
    "fill /big": "EROFS",
    "fill /dev/big": "EROFS",
    "fill /run/big": "EROFS",
    "fill /dev/shm/big": "ENOSPC",
    "fill /tmp/big": "ENOSPC",
    shadow: "ENOENT",
    "symlink out": "ENOENT",
    "symlink through root of 1": fence ? "EACCES" : "ENOENT",
    "write .git": "EROFS",
    "make a hook": "EROFS",
    "move .git": "EBUSY",
    "create /usr/mine": "EROFS",
    "create /etc/mine": "EROFS",
    "create /ctx/mine": "EROFS",
    "create /ctx/tool/mine": "EROFS",
    "create /proc/mine": "ENOENT",
    "create /mine": "EROFS",
  };
}

function facts(fence: boolean): Expectations {
  return {
    capabilities: "none",
    no_new_privs: "1",
    seccomp: "2",
    // Empty where it can be read; behind the fence what is in front of it cannot.
    "environ of 1": fence ? "EACCES" : "0",
    "cmdline of 1": "[b'/usr/bin/bwrap', b'--args', b'3', b'--']",
    descriptors: "[0, 1, 2]",
    processes: "['bwrap', 'python3']",
    hostname: "cortexfs",
    "secret of the caller": "unseen",
    limits: "['0', '256', '1024']",
    "socket unix": "allowed",
    "socketpair unix": "allowed",
    "abstract socket of the host": "ECONNREFUSED",
    "sockets in the view": "[]",
    run: "[]",
    "write in home": "allowed",
    "write in workspace": "allowed",
    "fill /tmp a little": "allowed",
    tools: "['shell.exec', 'shell.exec.d']",
    "make a device": "EPERM",
    forks: "EAGAIN before 600",
  };
}
