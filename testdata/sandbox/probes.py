# Tries to get out, and prints one line `name<TAB>what happened` for each attempt. Runs inside.
import array, ctypes, errno, fcntl, glob, os, pty, socket, struct, sys

libc = ctypes.CDLL(None, use_errno=True)
x64 = os.uname().machine == "x86_64"


def say(name, what):
    print(f"{name}\t{what}", flush=True)


def attempt(name, action):
    try:
        result = action()
        say(name, "allowed" if result is None else result)
    except OSError as error:
        say(name, errno.errorcode.get(error.errno, error.errno))


def call(number, *args):
    ctypes.set_errno(0)
    if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in args]) == -1:
        raise OSError(ctypes.get_errno(), "syscall")


def write(path, data=b"x"):
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def fill(path, size):
    block = b"\0" * (1 << 20)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        written = 0
        while written < size:
            written += os.write(fd, block)
    finally:
        os.close(fd)
        os.unlink(path)


# identity and the kernel
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
say("capabilities", "".join(status[k] for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")).strip("0") or "none")
say("no_new_privs", status["NoNewPrivs"])
say("seccomp", status["Seccomp"])
for target in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger"):
    attempt(f"write {target}", lambda: write(target))
attempt("unshare user", lambda: call(272 if x64 else 97, 0x10000000))
attempt("unshare mount", lambda: call(272 if x64 else 97, 0x00020000))
attempt("environ of 1", lambda: len(open("/proc/1/environ", "rb").read()))
say("cmdline of 1", open("/proc/1/cmdline", "rb").read().split(b"\0")[0:4])
say("descriptors", sorted(int(n) for n in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{n}")))
say("processes", sorted({open(f"/proc/{n}/comm").read().strip() for n in os.listdir("/proc") if n.isdigit()}))
say("hostname", socket.gethostname())


def environ(pid):
    try:
        return open(f"/proc/{pid}/environ", "rb").read()
    except OSError:
        return b""


environments = b"".join(environ(n) for n in os.listdir("/proc") if n.isdigit())
say("secret of the caller", "seen" if b"a-secret-of-the-caller" in environments else "unseen")
say("limits", [line.split()[-3] for line in open("/proc/self/limits") if line.startswith(("Max core", "Max open", "Max proc"))])

# system calls
master, slave = pty.openpty()
attempt("TIOCSTI", lambda: fcntl.ioctl(slave, 0x5412, b"x") and None)
attempt("TIOCSTI with high bits", lambda: call(16 if x64 else 29, slave, 0x100005412, ctypes.addressof(ctypes.create_string_buffer(b"x"))))
attempt("TIOCLINUX", lambda: fcntl.ioctl(slave, 0x541C, b"\2") and None)
attempt("keyctl", lambda: call(250 if x64 else 219, 0, -3, 0))
attempt("ptrace", lambda: call(101 if x64 else 117, 16, os.getppid(), 0, 0))
attempt("process_vm_readv", lambda: call(310 if x64 else 270, os.getppid(), 0, 0, 0, 0, 0))
attempt("pidfd_getfd", lambda: call(438, 0, 0, 0))
attempt("userfaultfd", lambda: call(323 if x64 else 282, 0))
attempt("perf_event_open", lambda: call(298 if x64 else 241, 0, 0, 0, 0, 0))
attempt("bpf", lambda: call(321 if x64 else 280, 0, 0, 0))
attempt("mount", lambda: call(165 if x64 else 40, 0, 0, 0, 0, 0))
attempt("umount2", lambda: call(166 if x64 else 39, 0, 0))
for name, number in (("open_tree", 428), ("move_mount", 429), ("fsopen", 430), ("fsmount", 432), ("mount_setattr", 442)):
    attempt(name, lambda: call(number, 0, 0, 0, 0, 0))
attempt("kexec_load", lambda: call(246 if x64 else 104, 0, 0, 0, 0))
attempt("open_by_handle_at", lambda: call(304 if x64 else 265, 0, 0, 0))
attempt("io_uring_setup", lambda: call(425, 1, 0))
attempt("syslog", lambda: call(103 if x64 else 116, 3, 0, 0))
if x64:
    attempt("x32 getpid", lambda: call(0x40000000 | 39))

# sockets
for name, family, kind in (
    ("inet", socket.AF_INET, socket.SOCK_STREAM),
    ("inet6", socket.AF_INET6, socket.SOCK_STREAM),
    ("packet", 17, socket.SOCK_RAW),
    ("vsock", 40, socket.SOCK_STREAM),
    ("netlink route", 16, socket.SOCK_RAW),
    ("alg", 38, socket.SOCK_SEQPACKET),
    ("bluetooth", 31, socket.SOCK_RAW),
):
    attempt(f"socket {name}", lambda: socket.socket(family, kind, 0).close())
attempt("socket netlink audit", lambda: socket.socket(16, socket.SOCK_RAW, 9).close())
attempt("socket unix", lambda: socket.socket(socket.AF_UNIX).close())
attempt("socketpair unix", lambda: [s.close() for s in socket.socketpair()] and None)
attempt("socketpair inet", lambda: [s.close() for s in socket.socketpair(socket.AF_INET)] and None)


def abstract(name):
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect("\0" + name)
    finally:
        s.close()


def bound(path):
    s = socket.socket(socket.AF_UNIX)
    try:
        s.bind(path)
        os.unlink(path)
    finally:
        s.close()


def moved(folder):
    open(folder + "/moving", "w").close()
    os.makedirs(folder + "/there", exist_ok=True)
    os.rename(folder + "/moving", folder + "/there/moving")
    os.link(folder + "/there/moving", folder + "/linked")
    for name in ("linked", "there/moving"):
        os.unlink(folder + "/" + name)
    os.rmdir(folder + "/there")


for folder in ("/workspace", "/home/agent", "/tmp", "/dev/shm"):
    attempt(f"make a socket in {folder}", lambda: bound(folder + "/probe.sock"))
    attempt(f"make a socket node in {folder}", lambda: (os.mknod(folder + "/probe.node", 0o140600), os.unlink(folder + "/probe.node")) and None)
    attempt(f"move between folders of {folder}", lambda: moved(folder))
attempt("abstract socket of the host", lambda: abstract(sys.argv[1]))
say("sockets in the view", [p for d in ("/run", "/tmp", "/var", "/home", "/ctx") for p in glob.glob(d + "/**/*", recursive=True) if os.path.exists(p) and (os.stat(p).st_mode & 0o170000) == 0o140000])
say("run", os.listdir("/run"))

# files
home = "/home/agent"
session = home + "/session"
log = session + "/default/events.jsonl"
attempt("append to events.jsonl", lambda: os.close(os.open(log, os.O_WRONLY | os.O_APPEND)))
attempt("unlink events.jsonl", lambda: os.unlink(log))
attempt("move events.jsonl", lambda: os.rename(log, home + "/moved"))
attempt("link over events.jsonl", lambda: os.symlink("/tmp/x", session + "/default/other"))
attempt("move session", lambda: os.rename(session, home + "/moved"))
attempt("write in home", lambda: open(home + "/mine", "w").close())
for path, size in (("/big", 1 << 30), ("/dev/big", 1 << 30), ("/dev/shm/big", 1 << 30), ("/run/big", 1 << 30), ("/tmp/big", 2 << 30)):
    attempt(f"fill {path}", lambda: fill(path, size))
attempt("fill /tmp a little", lambda: fill("/tmp/small", 1 << 20))
attempt("shadow", lambda: open("/etc/shadow").close())
say("etc", sorted(os.listdir("/etc")))
say("root", sorted(os.listdir("/")))
say("homes", os.listdir("/home") + os.listdir("/ctx/home"))
say("tools", sorted(os.listdir("/ctx/tool")))
for path in ("/usr/mine", "/etc/mine", "/ctx/mine", "/ctx/tool/mine", "/proc/mine", "/mine"):
    attempt(f"create {path}", lambda: open(path, "w").close())
os.symlink(sys.argv[2], "/workspace/lead")
attempt("symlink out", lambda: open("/workspace/lead/secret").close())
os.unlink("/workspace/lead")
attempt("symlink through root of 1", lambda: open("/proc/1/root" + sys.argv[2] + "/secret").close())
attempt("write .git", lambda: open("/workspace/.git/config", "w").close())
attempt("make a hook", lambda: open("/workspace/.git/hooks/pre-commit", "w").close())
attempt("move .git", lambda: os.rename("/workspace/.git", "/workspace/old"))
attempt("write in workspace", lambda: open("/workspace/result", "w").close())
attempt("make a device", lambda: os.mknod("/tmp/disk", 0o060600, os.makedev(254, 0)))


def forks():
    made = 0
    try:
        for _ in range(1000):
            if os.fork() == 0:
                try:
                    libc.pause()
                finally:
                    os._exit(0)
            made += 1
    except OSError as error:
        return f"{errno.errorcode[error.errno]} before 600" if made < 600 else str(made)
    return "a thousand"


say("forks", forks())
