/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "certify/worker/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *const always[] = {
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "close",
    "fstat",
    "lseek",
    "mprotect",
    "munmap",
    "mremap",
    "madvise",
    "brk",
    "futex",
    "set_robust_list",
    "get_robust_list",
    "rseq",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    "sched_yield",
    "sched_getaffinity",
    "getpid",
    "gettid",
    "uname",
    "exit",
    "exit_group",
    "clock_gettime",
    "clock_getres",
    "clock_nanosleep",
    "nanosleep",
    "gettimeofday",
    "time",
    "set_tid_address",
    "arch_prctl",
    "sysinfo",
    "getrandom",
    "poll",
    "ppoll",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getcpu",
    "getrusage",
    "times",
    "restart_syscall",
    "getcwd",
    "dup",
    "membarrier",
    "futex_waitv",
    "getppid",
    "rt_sigpending",
    "rt_sigtimedwait",
    "sched_getparam",
    "sched_getscheduler",
    "epoll_wait",
    "pause",
    "getdents64",
    "statfs",
    "fstatfs",
    "riscv_hwprobe",
};

static const char *const loading[] = {
    "stat",      "lstat",      "newfstatat", "statx",      "access",
    "faccessat", "faccessat2", "readlink",   "readlinkat", "seccomp",
};

/* Asked for by run-time systems as a hint; refusing them quietly harms nobody. */
static const char *const declined[] = {
    "sched_setaffinity", "sched_setscheduler", "setpriority", "mbind",     "get_mempolicy",
    "set_mempolicy",     "perf_event_open",    "ioctl",       "mlock",     "munlock",
    "sched_setparam",    "prlimit64",          "setrlimit",   "getrlimit",
};

/*
 * What a relaxed sandbox refuses, with the reason. A refusal is an error code, EPERM: interpreters
 * try things while starting.
 */
static const char *const refused[] = {
    /* other processes: their memory, signals, scheduling, limits */
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "process_mrelease",
    "pidfd_getfd",
    "pidfd_send_signal",
    "kcmp",
    "tkill",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "setpriority",
    "ioprio_set",
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
    "migrate_pages",
    "move_pages",
    "setrlimit",
    "setsid",
    "setpgid",
    "perf_event_open",
    "bpf",
    /* new processes (clone has a rule of its own) */
    "fork",
    "vfork",
    /* what belongs to files besides their bytes, which Landlock does not guard; truncate() is
     * guarded by Landlock from version 3 on alone */
    "chmod",
    "fchmod",
    "fchmodat",
    "chown",
    "fchown",
    "lchown",
    "fchownat",
    "utime",
    "utimes",
    "utimensat",
    "futimesat",
    "setxattr",
    "lsetxattr",
    "fsetxattr",
    "removexattr",
    "lremovexattr",
    "fremovexattr",
    "truncate",
    "name_to_handle_at",
    "open_by_handle_at",
    "fanotify_init",
    "fanotify_mark",
    "quotactl",
    "quotactl_fd",
    "swapon",
    "swapoff",
    "acct",
    /* what outlives the process, or is memory that no limit counts */
    "shmget",
    "shmat",
    "shmctl",
    "shmdt",
    "msgget",
    "msgsnd",
    "msgrcv",
    "msgctl",
    "semget",
    "semop",
    "semtimedop",
    "semctl",
    "mq_open",
    "mq_unlink",
    "mq_timedsend",
    "mq_timedreceive",
    "mq_notify",
    "mq_getsetattr",
    "memfd_create",
    "memfd_secret",
    "remap_file_pages",
    "mlock",
    "mlock2",
    "mlockall",
    "add_key",
    "request_key",
    "keyctl",
    /* the network; AF_UNIX is no exception */
    "socket",
    "connect",
    "bind",
    "listen",
    "accept",
    "accept4",
    "sendto",
    "sendmsg",
    "sendmmsg",
    /* the system, and ways around a filter */
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "unshare",
    "setns",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "init_module",
    "finit_module",
    "delete_module",
    "create_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "syslog",
    "sethostname",
    "setdomainname",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "stime",
    "iopl",
    "ioperm",
    "modify_ldt",
    "uselib",
    "_sysctl",
    "lookup_dcookie",
    "vhangup",
    "nfsservctl",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "userfaultfd",
    "io_setup",
    "personality",
    "kill",
    "tgkill",
    "prlimit64",
    "sched_setaffinity",
    "ioctl",
    "fcntl",
    "prctl",
    "mmap",
    "open",
    "openat",
    "clone",
};

/* Where Landlock does not guard files; creat() and open() have rules of their own. */
static const char *const refused_unguarded[] = {
    "creat",  "mkdir",    "mkdirat",   "mknod", "mknodat", "unlink",  "unlinkat",  "rmdir",
    "rename", "renameat", "renameat2", "link",  "linkat",  "symlink", "symlinkat",
};

/* Numbers that systems share; younger calls than these are answered as an older system would. */
enum { OLDEST_UNKNOWN_CALL = 450, MOST_CALLS = 640 };

static int add_all(scmp_filter_ctx filter, uint32_t action, const char *const *names,
                   size_t count) {
    for (size_t i = 0; i < count; i++) {
        int number = seccomp_syscall_resolve_name(names[i]);
        if (number < 0) {
            continue; /* not a call of this architecture */
        }
        int error = seccomp_rule_add(filter, action, number, 0);
        if (error != 0 && error != -EEXIST) {
            return 0;
        }
    }
    return 1;
}
#define COUNT(names) (sizeof names / sizeof *names)
#define ADD_ALL(filter, action, names) add_all(filter, action, names, COUNT(names))

/* The kernel looks at the lower half of an int argument alone, so a filter must too. */
static int allow_if(scmp_filter_ctx filter, const char *name, unsigned argument, uint64_t mask,
                    uint64_t value) {
    const struct scmp_arg_cmp condition = {
        .arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
    const int number = seccomp_syscall_resolve_name(name);
    return number < 0 || seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 1, condition) == 0;
}
#define INT UINT64_C(0xffffffff)

static int allow_ints(scmp_filter_ctx filter, const char *name, unsigned argument,
                      const int *values, size_t count) {
    int fine = 1;
    for (size_t i = 0; i < count; i++) {
        fine = fine && allow_if(filter, name, argument, INT, (uint32_t)values[i]);
    }
    return fine;
}

/* Threads, but no processes. clone3 hides its flags behind a pointer: libc falls back to clone. */
static int allow_threads(scmp_filter_ctx filter) {
    return allow_if(filter, "clone", 0, CLONE_THREAD, CLONE_THREAD) &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

static int allow_signals_to_itself(scmp_filter_ctx filter) {
    const uint64_t self = (uint64_t)getpid();
    return allow_if(filter, "tgkill", 0, INT, self) && allow_if(filter, "kill", 0, INT, self);
}

/* RLIMIT_DATA counts private memory. Memory that is shared with nobody, since there are no other
 * processes, and a stack that grows by itself would be outside of it. */
static int allow_counted_memory(scmp_filter_ctx filter) {
    return allow_if(filter, "mmap", 3, MAP_GROWSDOWN | MAP_ANONYMOUS, 0) &&
           allow_if(filter, "mmap", 3, MAP_GROWSDOWN | MAP_ANONYMOUS | MAP_SHARED, MAP_ANONYMOUS);
}

/* F_SETOWN and F_SETSIG would let a descriptor send signals to any process of the user, a lease
 * makes others wait for a file. */
static int allow_plain_fcntl(scmp_filter_ctx filter, int locks) {
    static const int plain[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL};
    static const int more[] = {F_SETFL,     F_GETLK,      F_SETLK,      F_SETLKW,   F_OFD_GETLK,
                               F_OFD_SETLK, F_OFD_SETLKW, F_GETPIPE_SZ, F_GET_SEALS};
    return allow_ints(filter, "fcntl", 1, plain, COUNT(plain)) &&
           (!locks || allow_ints(filter, "fcntl", 1, more, COUNT(more)));
}

static int allow_reading(scmp_filter_ctx filter) {
    const uint64_t changing = O_ACCMODE | O_CREAT | O_TRUNC;
    return allow_if(filter, "open", 1, changing, 0) && allow_if(filter, "openat", 2, changing, 0);
}

/* Declined as a file of somebody else is: a library that would like to keep a log goes on. */
static int decline_writing(scmp_filter_ctx filter) {
    static const struct {
        const char *name;
        unsigned argument;
    } calls[] = {{"open", 1}, {"openat", 2}};
    static const uint64_t asked[][2] = {
        {O_ACCMODE, O_WRONLY}, {O_ACCMODE, O_RDWR}, {O_ACCMODE, O_ACCMODE},
        {O_CREAT, O_CREAT},    {O_TRUNC, O_TRUNC},
    };
    int fine = 1;
    for (size_t i = 0; i < COUNT(calls); i++) {
        const int number = seccomp_syscall_resolve_name(calls[i].name);
        for (size_t k = 0; number >= 0 && k < COUNT(asked); k++) {
            const struct scmp_arg_cmp condition = {.arg = calls[i].argument,
                                                   .op = SCMP_CMP_MASKED_EQ,
                                                   .datum_a = asked[k][0],
                                                   .datum_b = asked[k][1]};
            fine =
                fine && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), number, 1, condition) == 0;
        }
    }
    return fine;
}

/* O_TRUNC empties a file that is opened for reading, which Landlock before version 3 overlooks. */
static int allow_opening(scmp_filter_ctx filter) {
    const char *const names[] = {"open", "openat"};
    int fine = 1;
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t mask = O_ACCMODE | O_TRUNC;
        fine = fine && allow_if(filter, names[i], i + 1, O_TRUNC, 0) &&
               allow_if(filter, names[i], i + 1, mask, O_TRUNC | O_WRONLY) &&
               allow_if(filter, names[i], i + 1, mask, O_TRUNC | O_RDWR);
    }
    return fine;
}

/* Whatever it may ask of prctl() but PR_SET_PDEATHSIG, by which the process ends with attest: the
 * filter has no "unless", so any option that has another bit set, or lacks that one. */
static int allow_prctl_to_mortals(scmp_filter_ctx filter) {
    int fine = allow_if(filter, "prctl", 0, PR_SET_PDEATHSIG, 0);
    for (int bit = 1; bit < 32; bit++) {
        const uint64_t other = UINT64_C(1) << bit;
        fine = fine && allow_if(filter, "prctl", 0, other, other);
    }
    return fine;
}

static int load(scmp_filter_ctx filter, int fine) {
    int done = fine && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return done;
}

int attest_filter_strict(int narrow) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    if (filter == NULL) {
        return 0;
    }
    /* PR_SET_VMA, PR_SET_NO_NEW_PRIVS: names, and what libseccomp itself asks for. */
    static const int harmless[] = {PR_SET_NAME, PR_GET_NAME, 0x53564d41, PR_SET_NO_NEW_PRIVS};
    static const char *const opening[] = {"open", "openat"};
    /* Later openings for reading are declined, not trapped: libc looks into /sys now and then. */
    int fine = ADD_ALL(filter, SCMP_ACT_ALLOW, always) &&
               ADD_ALL(filter, SCMP_ACT_ERRNO(EPERM), declined) &&
               ADD_ALL(filter, narrow ? SCMP_ACT_ERRNO(EACCES) : SCMP_ACT_ALLOW, loading) &&
               (narrow ? ADD_ALL(filter, SCMP_ACT_ERRNO(EACCES), opening)
                       : allow_reading(filter) && decline_writing(filter)) &&
               allow_threads(filter) && allow_signals_to_itself(filter) &&
               allow_counted_memory(filter) && allow_plain_fcntl(filter, 0) &&
               allow_ints(filter, "prctl", 0, harmless, COUNT(harmless));
    return load(filter, fine);
}

static void mark(unsigned char *listed, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int number = seccomp_syscall_resolve_name(names[i]);
        if (number >= 0 && number < OLDEST_UNKNOWN_CALL) {
            listed[number] = 1;
        }
    }
}

int attest_filter_relaxed(int files_guarded) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (filter == NULL) {
        return 0;
    }
    /* Asked of terminals and pipes; not TIOCSTI, which types for the user, FIOSETOWN, ... */
    static const int asking[] = {TCGETS,  TIOCGWINSZ, TIOCGPGRP, FIONREAD,
                                 FIONBIO, FIOCLEX,    FIONCLEX};
    static const char *const hidden[] = {"clone3", "openat2"}; /* arguments behind a pointer */
    unsigned char listed[OLDEST_UNKNOWN_CALL] = {0};
    mark(listed, refused, COUNT(refused));
    mark(listed, hidden, COUNT(hidden));
    if (!files_guarded) {
        mark(listed, refused_unguarded, COUNT(refused_unguarded));
    }
    int fine = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2) == 0;
    for (int number = 0; number < MOST_CALLS; number++) {
        if (number >= OLDEST_UNKNOWN_CALL) {
            fine = fine && seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), number, 0) == 0;
        } else if (!listed[number]) {
            fine = fine && seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0) == 0;
        }
    }
    fine = fine && allow_threads(filter) &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0) == 0 &&
           allow_signals_to_itself(filter) && allow_counted_memory(filter) &&
           allow_prctl_to_mortals(filter) && allow_plain_fcntl(filter, 1) &&
           allow_ints(filter, "ioctl", 1, asking, COUNT(asking)) &&
           (files_guarded ? allow_opening(filter) : allow_reading(filter)) &&
           allow_if(filter, "prlimit64", 2, UINT64_MAX, 0) && /* asking, not setting */
           allow_if(filter, "sched_setaffinity", 0, INT, 0);
    return load(filter, fine);
}

void attest_system_call_name(char *name, size_t size, int number) {
    char *found = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
    snprintf(name, size, "%s", found ? found : "?");
    free(found);
}
