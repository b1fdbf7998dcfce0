/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "certify/worker/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "certify/worker/filter.h"
#include "certify/worker/landlock.h"
#include "certify/worker/protection.h"

static int limit(int resource, uint64_t value) {
    const struct rlimit both = {.rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value};
    return setrlimit((__rlimit_resource_t)resource, &both) == 0;
}

/* RLIMIT_DATA counts private writable pages, so it bounds what a kernel allocates without counting
 * the sparse windows on the tensors. The filter refuses memory that it does not count; a pipe or a
 * pair of sockets has a buffer of its own, hence few descriptors. */
static int set_limits(const attest_sandbox *sandbox) {
#if defined(__SANITIZE_ADDRESS__) /* its shadow of all memory counts as data */
    const uint64_t data = RLIM_INFINITY;
#else
    const uint64_t data = sandbox->memory_bytes;
#endif
    return limit(RLIMIT_DATA, data) && limit(RLIMIT_CORE, 0) &&
           limit(RLIMIT_NOFILE, sandbox->strict ? 64 : 256) &&
           limit(RLIMIT_FSIZE, UINT64_C(1) << 26) && limit(RLIMIT_MEMLOCK, 0) &&
           limit(RLIMIT_STACK, UINT64_C(8) << 20);
}

/* Without capabilities root is nobody special: it cannot trace attest, nor raise its limits. */
static int drop_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    return syscall(SYS_capset, &header, none) == 0;
}

static void write_text(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        (void)!write(file, text, strlen(text));
        close(file);
    }
}

/* Root may have new namespaces at once, a user inside a user namespace, where there is one. */
static int separate(void) {
    const int wanted = CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUTS;
    const unsigned user = geteuid(), group = getegid();
    char map[64];
    if (unshare(wanted) == 0) {
        return 1;
    }
    if (unshare(CLONE_NEWUSER | wanted) != 0) {
        return 0;
    }
    write_text("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "%u %u 1", user, user);
    write_text("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "%u %u 1", group, group);
    write_text("/proc/self/gid_map", map);
    return 1;
}

/* Each is tried, in the process it is to protect from. Signal 0 asks whether one could be sent. */
static uint32_t held(int separated, int signals) {
    uint32_t bits = 0;
    const int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    const int no_terminal = terminal < 0 && getsid(0) == getpid();
    struct rlimit core = {.rlim_max = 1}, raised = {.rlim_cur = 1, .rlim_max = 1};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[2] = {{.permitted = 1}};
    if (terminal >= 0) {
        close(terminal);
    }
    bits |= (uint32_t)no_terminal << ATTEST_PROTECTED_SESSION;
    syscall(SYS_capget, &header, caps);
    bits |= (uint32_t)(caps[0].permitted == 0 && caps[1].permitted == 0 &&
                       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
            << ATTEST_PROTECTED_PRIVILEGES;
    bits |= (uint32_t)(getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0 &&
                       setrlimit(RLIMIT_CORE, &raised) != 0)
            << ATTEST_PROTECTED_LIMITS;
    const int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root >= 0) {
        close(root);
    }
    bits |= (uint32_t)(root < 0 && errno == EACCES) << ATTEST_PROTECTED_FILES;
    bits |= (uint32_t)signals << ATTEST_PROTECTED_SIGNALS;
    bits |= (uint32_t)separated << ATTEST_PROTECTED_NAMESPACES;
    return bits;
}

/* A descriptor that is not open: EBADF if the call got through. */
static uint32_t filtered(void) {
    return (uint32_t)(ioctl(-1, TIOCSTI, "") != 0 && errno == EPERM) << ATTEST_PROTECTED_CALLS;
}

int attest_sandbox_enter(const attest_sandbox *sandbox, uint32_t *protections, const char **why) {
    const pid_t parent = getppid();
    const int separated = separate();
    *why = "privileges cannot be dropped";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !drop_capabilities()) {
        return 0;
    }
    /* A user namespace clears both; attest is to see how its worker does. */
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    *why = "attest has gone";
    if (getppid() != parent) {
        return 0;
    }
    *why = "resource limits cannot be set";
    if (!set_limits(sandbox)) {
        return 0;
    }
    attest_landlock(sandbox->readable, sandbox->temporary);
    const int signals = kill(parent, 0) != 0 && errno == EPERM;
    *protections = held(separated, signals);
    *why = "system calls cannot be filtered";
    const int guarded = (int)(*protections >> ATTEST_PROTECTED_FILES & 1);
    if (!(sandbox->strict ? attest_filter_strict(0) : attest_filter_relaxed(guarded))) {
        return 0;
    }
    *protections |= filtered();
    return 1;
}

int attest_sandbox_narrow(void) { return attest_filter_strict(1); }
