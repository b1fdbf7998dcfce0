/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "certify/worker/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "certify/worker/landlock.h"

static void note(char *notes, size_t size, const char *text) {
    size_t used = strlen(notes);
    snprintf(notes + used, size - used, "%s%s", used ? "; " : "", text);
}

static int limit(int resource, uint64_t value) {
    const struct rlimit both = {.rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value};
    return setrlimit((__rlimit_resource_t)resource, &both) == 0;
}

/* RLIMIT_DATA counts private writable pages, so it bounds what a kernel allocates without counting
 * the sparse windows on the tensors. */
static int set_limits(const attest_sandbox *sandbox) {
#if defined(__SANITIZE_ADDRESS__) /* its shadow of all memory counts as data */
    const uint64_t data = RLIM_INFINITY;
#else
    const uint64_t data = sandbox->memory_bytes;
#endif
    return limit(RLIMIT_DATA, data) && limit(RLIMIT_CORE, 0) &&
           limit(RLIMIT_NOFILE, sandbox->strict ? 64 : 1024) &&
           limit(RLIMIT_FSIZE, UINT64_C(1) << 26) && limit(RLIMIT_MEMLOCK, 0) &&
           limit(RLIMIT_STACK, UINT64_C(8) << 20);
}

/* Without capabilities root is nobody special: it cannot trace attest, nor raise its limits. */
static int drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    return syscall(SYS_capset, &header, none) == 0;
}

static const char *const always[] = {
    "read",           "write",           "readv",         "writev",          "pread64",
    "close",          "fstat",           "lseek",         "mmap",            "mprotect",
    "munmap",         "mremap",          "madvise",       "brk",             "futex",
    "set_robust_list", "get_robust_list", "rseq",          "rt_sigaction",    "rt_sigprocmask",
    "rt_sigreturn",   "sigaltstack",     "sched_yield",   "sched_getaffinity", "getpid",
    "gettid",         "uname",           "exit",          "exit_group",      "clock_gettime",
    "clock_getres",   "clock_nanosleep", "nanosleep",     "gettimeofday",    "time",
    "set_tid_address", "arch_prctl",      "sysinfo",       "getrandom",       "poll",
    "ppoll",          "getuid",          "geteuid",       "getgid",          "getegid",
    "getcpu",         "getrusage",       "times",         "restart_syscall", "getcwd",
    "dup",             "membarrier",    "futex_waitv",     "getppid",
    "rt_sigpending",  "rt_sigtimedwait", "sched_getparam", "sched_getscheduler", "epoll_wait",
    "pause",          "getdents64",      "statfs",        "fstatfs",         "riscv_hwprobe",
};

static const char *const loading[] = {
    "open",     "openat",     "stat",    "lstat",    "newfstatat", "statx",
    "access",   "faccessat",  "faccessat2", "readlink", "readlinkat", "seccomp",
};

/* Asked for by run-time systems as a hint; refusing them quietly harms nobody. */
static const char *const declined[] = {
    "sched_setaffinity", "sched_setscheduler", "setpriority", "mbind",       "get_mempolicy",
    "set_mempolicy",     "perf_event_open",    "ioctl",       "mlock",       "munlock",
    "sched_setparam",    "prlimit64",          "setrlimit",   "getrlimit",
};

/* In a relaxed sandbox a refusal is an error code: interpreters try things while starting. */
#define REFUSED SCMP_ACT_ERRNO(EPERM)

static const char *const refused_when_relaxed[] = {
    "ptrace",        "process_vm_readv", "process_vm_writev", "bpf",         "mount",
    "umount2",       "pivot_root",       "chroot",            "unshare",     "setns",
    "init_module",   "finit_module",     "delete_module",     "kexec_load",  "reboot",
    "swapon",        "swapoff",          "setsid",            "setpgid",     "io_uring_setup",
    "userfaultfd",   "perf_event_open",  "keyctl",            "add_key",     "pidfd_getfd",
    "connect",       "bind",             "listen",            "accept",      "accept4",
    "sendto",        "sendmsg",          "sendmmsg",          "tkill",       "rt_sigqueueinfo",
    "rt_tgsigqueueinfo", "pidfd_send_signal",
};

static int add_all(scmp_filter_ctx filter, uint32_t action, const char *const *names,
                   size_t count) {
    for (size_t i = 0; i < count; i++) {
        int number = seccomp_syscall_resolve_name(names[i]);
        if (number == __NR_SCMP_ERROR) {
            continue; /* not a call of this architecture */
        }
        int error = seccomp_rule_add(filter, action, number, 0);
        if (error != 0 && error != -EEXIST) {
            return 0;
        }
    }
    return 1;
}
#define ADD_ALL(filter, action, names) add_all(filter, action, names, sizeof names / sizeof *names)

static struct scmp_arg_cmp first_argument(enum scmp_compare how, uint64_t a, uint64_t b) {
    return (struct scmp_arg_cmp){.arg = 0, .op = how, .datum_a = a, .datum_b = b};
}

/* Threads, but no processes. clone3 hides its flags behind a pointer: libc falls back to clone. */
static int allow_threads(scmp_filter_ctx filter, uint32_t otherwise) {
    int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (otherwise == SCMP_ACT_ALLOW) { /* relaxed: name what is refused */
        error |= seccomp_rule_add(filter, REFUSED, SCMP_SYS(clone), 1,
                                  first_argument(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
        error |= seccomp_rule_add(filter, REFUSED, SCMP_SYS(fork), 0);
        error |= seccomp_rule_add(filter, REFUSED, SCMP_SYS(vfork), 0);
    } else {
        error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                                  first_argument(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    }
    return error == 0;
}

static int allow_signals_to_itself(scmp_filter_ctx filter) {
    const uint64_t self = (uint64_t)getpid();
    int error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                                 first_argument(SCMP_CMP_EQ, self, 0));
    error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(kill), 1,
                              first_argument(SCMP_CMP_EQ, self, 0));
    /* PR_SET_NAME, PR_SET_VMA, PR_SET_NO_NEW_PRIVS: names, and what libseccomp itself asks for. */
    const int harmless[] = {PR_SET_NAME, PR_GET_NAME, 0x53564d41, PR_SET_NO_NEW_PRIVS};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
                                  first_argument(SCMP_CMP_EQ, (uint64_t)harmless[i], 0));
    }
    return error == 0;
}

/* F_SETOWN and F_SETSIG would let a descriptor send signals to any process of the user. */
static int allow_plain_fcntl(scmp_filter_ctx filter) {
    const int plain[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL};
    int error = 0;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const struct scmp_arg_cmp command = {
            .arg = 1, .op = SCMP_CMP_EQ, .datum_a = (uint64_t)plain[i]};
        error |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, command);
    }
    return error == 0;
}

static int load(scmp_filter_ctx filter) {
    int done = seccomp_load(filter) == 0;
    seccomp_release(filter);
    return done;
}

static int strict_filter(int narrow) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    if (filter == NULL) {
        return 0;
    }
    /* Later openings for reading are declined, not trapped: libc looks into /sys now and then. */
    uint32_t opening = narrow ? SCMP_ACT_ERRNO(EACCES) : SCMP_ACT_ALLOW;
    int fine = ADD_ALL(filter, SCMP_ACT_ALLOW, always) &&
               ADD_ALL(filter, SCMP_ACT_ERRNO(EPERM), declined) &&
               ADD_ALL(filter, opening, loading) && allow_threads(filter, SCMP_ACT_TRAP) &&
               allow_signals_to_itself(filter) && allow_plain_fcntl(filter);
    if (!fine) {
        seccomp_release(filter);
        return 0;
    }
    return load(filter);
}

static int relaxed_filter(void) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter == NULL) {
        return 0;
    }
    int fine = ADD_ALL(filter, REFUSED, refused_when_relaxed) &&
               allow_threads(filter, SCMP_ACT_ALLOW) &&
               seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 0) == 0 &&
               seccomp_rule_add(filter, REFUSED, SCMP_SYS(kill), 1,
                                first_argument(SCMP_CMP_NE, (uint64_t)getpid(), 0)) == 0 &&
               seccomp_rule_add(filter, REFUSED, SCMP_SYS(tgkill), 1,
                                first_argument(SCMP_CMP_NE, (uint64_t)getpid(), 0)) == 0;
    if (!fine) {
        seccomp_release(filter);
        return 0;
    }
    return load(filter);
}

int attest_sandbox_enter(const attest_sandbox *sandbox, char *notes, size_t size) {
    notes[0] = '\0';
    if (!set_limits(sandbox)) {
        note(notes, size, "resource limits cannot be set");
        return 0;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !drop_capabilities()) {
        note(notes, size, "privileges cannot be dropped");
        return 0;
    }
    if (!attest_landlock(sandbox->strict, sandbox->object, sandbox->temporary)) {
        note(notes, size, "no Landlock: files are protected by permissions and seccomp alone");
    }
    if (!(sandbox->strict ? strict_filter(0) : relaxed_filter())) {
        note(notes, size, "system calls cannot be filtered");
        return 0;
    }
    return 1;
}

int attest_sandbox_narrow(void) {
    return strict_filter(1);
}

void attest_system_call_name(char *name, size_t size, int number) {
    char *found = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
    snprintf(name, size, "%s", found ? found : "?");
    free(found);
}
