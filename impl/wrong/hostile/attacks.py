# SPDX-License-Identifier: Apache-2.0
"""A callable that is right and attacks the machine meanwhile: it fails with the names of what got through.
tests/test_attacks.py runs it as py: and exec:, with and without what a system may lack."""
import ctypes
import fcntl
import glob
import mmap
import os
import platform
import resource
import socket
import struct
import termios

from attest_attention import kernel
from kernels import right

libc = ctypes.CDLL(None, use_errno=True)
FOLDER = os.environ["HOSTILE_FOLDER"]
VICTIM = os.path.join(FOLDER, "victim")
OLD = {"x86_64": {"prlimit64": 302, "setpriority": 141, "mq_open": 240, "ioprio_set": 251},
       "aarch64": {"prlimit64": 261, "setpriority": 140, "mq_open": 180, "ioprio_set": 30},
       }[platform.machine()]
attacks = []


def attack(function):
    attacks.append(function)
    return function


def call(number, *arguments):
    """Whether a system call succeeded."""
    return libc.syscall(number, *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]) >= 0


@attack
def terminal():
    for path in ["/dev/tty", *glob.glob("/dev/pts/[0-9]*")]:
        for flags in (os.O_RDONLY, os.O_RDWR):
            try:
                file = os.open(path, flags)
            except OSError:
                continue
            for letter in b"attacked\n":
                try:
                    fcntl.ioctl(file, termios.TIOCSTI, bytes([letter]))
                except OSError:
                    pass
            return True
    return False


@attack
def typing():  # on a descriptor that is no terminal: EBADF or ENOTTY if the call gets through
    try:
        fcntl.ioctl(0, termios.TIOCSTI, b"x")
    except PermissionError:
        return False
    except OSError:
        return True
    return True


@attack
def mode():
    os.chmod(VICTIM, 0o777)


@attack
def owner():
    os.chown(VICTIM, -1, -1)


@attack
def times():
    os.utime(VICTIM, (1, 1))


@attack
def attribute():
    os.setxattr(VICTIM, "user.attacked", b"1")


@attack
def attribute_by_a_young_call():
    return call(463, -100, VICTIM.encode(), 0, b"user.attacked", None, 0) or \
        ctypes.get_errno() != 38  # ENOSYS


@attack
def length():
    os.truncate(VICTIM, 0)


@attack
def length_by_opening():
    os.close(os.open(VICTIM, os.O_RDONLY | os.O_TRUNC))


@attack
def writing():
    with open(VICTIM, "ab") as file:
        file.write(b"attacked")


@attack
def shared_folder():
    with open("/dev/shm/attest-attacked", "wb"):
        pass


@attack
def own_limit():
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))


@attack
def limit_of_attest():
    return call(OLD["prlimit64"], os.getppid(), resource.RLIMIT_NOFILE, struct.pack("QQ", 3, 3), None)


@attack
def priority_of_attest():
    return call(OLD["setpriority"], 0, os.getppid(), 19) or call(OLD["ioprio_set"], 1, os.getppid(), 3 << 13)


@attack
def signal_to_attest():
    os.kill(os.getppid(), 0)


@attack
def signal_by_descriptor():
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid())


@attack
def shared_segment():
    return libc.shmget(0x41545431, 4096, 0o1600) >= 0


@attack
def message_queue():
    return libc.msgget(0x41545431, 0o1600) >= 0


@attack
def semaphores():
    return libc.semget(0x41545431, 1, 0o1600) >= 0


@attack
def posix_queue():
    return call(OLD["mq_open"], b"attest-attacked", os.O_CREAT | os.O_RDWR, 0o600, None)


@attack
def environment():
    return "HOSTILE_SECRET" in os.environ


@attack
def zero_file():  # mapped so, it is shared memory that no limit counts
    file = os.open("/dev/zero", os.O_RDONLY)
    mmap.mmap(file, 1 << 20, mmap.MAP_SHARED, mmap.PROT_READ)


@attack
def reading():
    with open(VICTIM, "rb"):
        pass


@attack
def listing():
    os.listdir(FOLDER)


@attack
def reading_attest():
    with open(f"/proc/{os.getppid()}/environ", "rb") as file:
        file.read()


@attack
def uncounted_memory():
    mmap.mmap(-1, 1 << 20)


@attack
def many_buffers():  # pipes and pairs of sockets hold memory that no limit counts
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 256


@attack
def nameless_file():
    os.memfd_create("attacked")


@attack
def network():
    socket.socket()


@attack
def process():
    if os.fork() == 0:
        os._exit(0)


@attack
def outliving_attest():  # PR_SET_PDEATHSIG
    return libc.prctl(1, 0, 0, 0, 0) == 0


def got_through(one):
    """An attack may say so, or return without an exception."""
    try:
        return one() is not False
    except (OSError, ValueError):  # an interpreter says the latter of a limit
        return False


@kernel(features=["causal"], shapes=["strides"], types=["f32"], finite_only=True, isolation="extreme")
def attention(q, k, v, causal=False):
    through = [one.__name__ for one in attacks if got_through(one)]
    if through:
        raise RuntimeError(" ".join(through))
    return right(q, k, v, causal)
