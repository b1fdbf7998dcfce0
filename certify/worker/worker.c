/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attest-worker - loads one kernel in a sandbox and calls it on behalf of attest, which never loads
 * one itself. Started by attest alone:
 *
 *   attest-worker MODE MEMORY-BYTES TEMPORARY READABLE PROGRAM [ARGUMENT...]
 *
 * MODE is strict or relaxed (PROGRAM is a shared object), or exec (PROGRAM is run in the relaxed
 * sandbox and speaks spec/protocol.md itself, once attest has the first message). READABLE is what
 * may be read besides the system's libraries, a path a line. Descriptors 3, 4 and 5 are the socket
 * to attest, the sealed inputs and the outputs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "certify/worker/call.h"
#include "certify/worker/crash.h"
#include "certify/worker/sandbox.h"
#include "certify/worker/wire.h"

enum { CONTROL = 3, INPUTS = 4, OUTPUTS = 5 };

static int say(attest_wire *message) {
    message->magic = ATTEST_WIRE_MAGIC;
    return write(CONTROL, message, sizeof *message) == (ssize_t)sizeof *message;
}

static void refuse(const char *why) {
    attest_wire message = {.kind = ATTEST_WIRE_REFUSED};
    snprintf(message.text, sizeof message.text, "%s", why);
    say(&message);
    _exit(1);
}

static void copy_name(char to[ATTEST_NAME_BYTES], const char *from, const char *otherwise) {
    snprintf(to, ATTEST_NAME_BYTES, "%s", from ? from : otherwise);
}

/* Fields beyond the writer's struct_bytes count as zero. */
static attest_kernel take_descriptor(const attest_kernel *theirs) {
    attest_kernel ours = {0};
    uint64_t bytes = theirs->struct_bytes;
    memcpy(&ours, theirs, bytes < sizeof ours ? (size_t)bytes : sizeof ours);
    if (ours.abi_version != ATTEST_ABI_VERSION) {
        refuse("descriptor: abi_version is not the one that was asked for");
    }
    if (bytes < offsetof(attest_kernel, forward) + sizeof ours.forward || ours.forward == NULL) {
        refuse("descriptor: there is no forward()");
    }
    if (ours.name == NULL) {
        refuse("descriptor: name is NULL");
    }
    if (ours.reserved32 != 0) {
        refuse("descriptor: reserved32 is not zero");
    }
    for (size_t i = 0; i < sizeof ours.reserved / sizeof *ours.reserved; i++) {
        if (ours.reserved[i] != 0) {
            refuse("descriptor: a reserved field is not zero");
        }
    }
    return ours;
}

/* Names by text: an answer built anew may have them elsewhere. */
static int same_text(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static int same_descriptor(attest_kernel a, const attest_kernel *b) {
    const int same = same_text(a.name, b->name) && same_text(a.vendor, b->vendor) &&
                     same_text(a.version, b->version) && same_text(a.profile, b->profile) &&
                     same_text(a.model, b->model);
    a.name = b->name;
    a.vendor = b->vendor;
    a.version = b->version;
    a.profile = b->profile;
    a.model = b->model;
    return same && memcmp(&a, b, sizeof a) == 0;
}

static attest_kernel load(const char *path) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) {
        refuse(dlerror());
    }
    struct link_map *map = NULL;
    if (dlinfo(object, RTLD_DI_LINKMAP, &map) == 0 && map != NULL) {
        attest_crash_set_base((uint64_t)map->l_addr);
    }
    const attest_kernel *(*entry)(uint32_t) = NULL;
    *(void **)&entry = dlsym(object, "attest_kernel_v1");
    if (entry == NULL) {
        refuse("the object has no symbol attest_kernel_v1");
    }
    const attest_kernel *descriptor = entry(ATTEST_ABI_VERSION);
    if (descriptor == NULL) {
        refuse("attest_kernel_v1(1) returned NULL: the kernel does not speak ABI version 1");
    }
    attest_kernel kernel = take_descriptor(descriptor);
    const attest_kernel *second = entry(ATTEST_ABI_VERSION);
    const attest_kernel again = second != NULL ? take_descriptor(second) : (attest_kernel){0};
    if (!same_descriptor(kernel, &again)) {
        refuse("attest_kernel_v1(1) gave another descriptor when asked again (CAP-01)");
    }
    char why[ATTEST_MESSAGE_BYTES] = "";
    if (kernel.init != NULL && kernel.init(why) != ATTEST_OK) {
        char text[ATTEST_MESSAGE_BYTES];
        why[sizeof why - 1] = '\0';
        snprintf(text, sizeof text, "init() failed: %.200s", why);
        refuse(text);
    }
    return kernel;
}

static void introduce(const attest_kernel *kernel) {
    attest_wire message = {.kind = ATTEST_WIRE_LOADED};
    attest_kernel_info *info = &message.u.info;
    copy_name(info->name, kernel->name, "");
    copy_name(info->vendor, kernel->vendor, "");
    copy_name(info->version, kernel->version, "");
    copy_name(info->profile, kernel->profile, "attest");
    copy_name(info->model, kernel->model, "");
    info->features = kernel->features;
    info->shapes = kernel->shapes;
    info->dtypes = kernel->dtypes;
    info->max_head_size = kernel->max_head_size;
    info->max_queries = kernel->max_queries;
    info->max_keys = kernel->max_keys;
    info->max_abs_score = kernel->max_abs_score;
    info->exp_ulps = kernel->exp_ulps;
    info->determinism = kernel->determinism;
    info->finite_only = kernel->finite_only;
    info->isolation = kernel->isolation;
    info->reentrant = kernel->reentrant;
    info->alignment = kernel->alignment;
    if (!say(&message)) {
        _exit(1);
    }
}

/* Where the worker waits for attest, always called from main(): so its stack pointer is the same
 * each time, and attest, which looks from outside, can tell it from a kernel that reads the
 * socket. */
static attest_wire question;
static ssize_t __attribute__((noinline)) wait_for_attest(void) {
    ssize_t size;
    do {
        size = syscall(SYS_read, CONTROL, &question, sizeof question); /* read() has two ways */
    } while (size < 0 && errno == EINTR);
    return size;
}

static void answer(const attest_kernel *kernel, attest_windows *windows, ssize_t size) {
    const attest_wire message = question;
    attest_wire checked;
    const char *why;
    if (size < 0 || !attest_wire_accept(&checked, &message, (size_t)size, &why) ||
        checked.kind != ATTEST_WIRE_CALL) {
        _exit(1);
    }
    attest_wire said = {.kind = ATTEST_WIRE_DONE, .sequence = checked.sequence};
    attest_call(kernel, windows, &checked.u.call, &said);
    if (!say(&said)) {
        _exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc < 6) {
        fprintf(stderr, "attest-worker is started by attest; see attest(1)\n");
        return 2;
    }
    const attest_sandbox sandbox = {
        .strict = strcmp(argv[1], "strict") == 0,
        .memory_bytes = strtoull(argv[2], NULL, 10),
        .temporary = argv[3][0] ? argv[3] : NULL,
        .readable = argv[4],
    };
    char *const *const program = argv + 5;
    const int runs = strcmp(argv[1], "exec") == 0;
    attest_wire ready = {.kind = ATTEST_WIRE_READY};
    attest_windows windows = {.inputs = INPUTS, .outputs = OUTPUTS};
    if (!runs && (!attest_windows_reserve(&windows) || !attest_crash_handlers(OUTPUTS))) {
        refuse("address space for the tensors cannot be reserved");
    }
    uint32_t protections = 0;
    const char *why = "";
    if (!attest_sandbox_enter(&sandbox, &protections, &why)) {
        refuse(why);
    }
    snprintf(ready.text, sizeof ready.text, "%" PRIx32, protections);
    if (!say(&ready)) {
        return 1;
    }
    if (runs) {
        execvp(program[0], program);
        fprintf(stderr, "attest-worker: %s: %s\n", program[0], strerror(errno));
        return 2;
    }
    if (wait_for_attest() <= 0) { /* it has seen where this is */
        return 1;
    }
    attest_kernel kernel = load(program[0]);
    if (sandbox.strict && !attest_sandbox_narrow()) {
        refuse("the narrow filter cannot be set");
    }
    introduce(&kernel);
    for (ssize_t size; (size = wait_for_attest()) != 0;) { /* 0: attest has closed its end */
        answer(&kernel, &windows, size);
    }
    if (kernel.shutdown != NULL) {
        kernel.shutdown();
    }
    return 0;
}
