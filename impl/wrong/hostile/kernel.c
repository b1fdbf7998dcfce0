/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that is right but for one thing. Compiled once per behaviour (-DBEHAVIOUR=b_...); the
 * table in tests/test_hostile.py says which verdict each must get.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "reference/kernel/forward.h"
#include "reference/problem/normal.h"
#include "spec/attest.h"

typedef const attest_problem problem;
static unsigned calls;
static jmp_buf somewhere;

static void zero_output(problem *p) {
    if (p->o.data != NULL && p->o.shape[3] > 0) {
        memset(p->o.data, 0, (size_t)attn_dtype_bytes(p->o.dtype) * (size_t)p->o.shape[3]);
    }
}

/* Bytes from the first to the last element of a tensor. */
static size_t extent(const attest_tensor *t) {
    int64_t last = 0;
    for (uint32_t axis = 0; axis < t->rank; axis++) {
        if (t->shape[axis] == 0) {
            return 0;
        }
        last += (t->shape[axis] - 1) * t->stride[axis];
    }
    return (size_t)((last + 1) * attn_dtype_bytes(t->dtype));
}

/* Each runs before the right computation; what it returns is the status, 0 to go on, or SKIP to
 * return OK at once. */
enum { SKIP = 100 };
typedef int step(problem *p);
typedef void constructor_step(void);

static int nothing(problem *p) {
    (void)p;
    return 0;
}
static volatile uintptr_t nowhere = 8;
static volatile int forever = 1; /* opaque to the compiler */

static int crash(problem *p) {
    (void)p;
    *(volatile int *)nowhere = 1;
    return 0;
}
static int hang(problem *p) {
    (void)p;
    while (forever) {
    }
    return 0;
}
static int sleep_long(problem *p) {
    (void)p;
    sleep(1000);
    return 0;
}
static int exit_0(problem *p) {
    (void)p;
    exit(0);
}
static int underscore_exit(problem *p) {
    (void)p;
    _exit(0);
}
static int abort_(problem *p) {
    (void)p;
    abort();
}
static int deeper(volatile char *above) {
    volatile char here[4096];
    here[0] = above[0];
    return forever ? deeper(here) + here[0] : 0;
}
static int stack_overflow(problem *p) {
    volatile char here = 0;
    (void)p;
    return deeper(&here);
}
static int allocate(problem *p) {
    (void)p;
    for (;;) {
        char *block = malloc(1 << 24);
        if (block == NULL) {
            return ATTEST_NO_MEMORY;
        }
        memset(block, 1, 1 << 24);
    }
}
static void *wait_forever(void *unused) {
    for (;;) {
        pause();
        sleep(1000);
    }
    return unused;
}
static int thread_bomb(problem *p) {
    (void)p;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    while (forever) {
        pthread_t thread;
        if (pthread_create(&thread, &small, wait_forever, NULL) != 0) {
            sleep(1);
        }
    }
    return 0;
}
static int fork_bomb(problem *p) {
    (void)p;
    while (forever) {
        fork();
    }
    return 0;
}
static int fill_shared(problem *p) { /* all of the outputs' file, far beyond the outputs */
    (void)p;
    const size_t bytes = (size_t)1 << 36;
    volatile char *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, 5, 0);
    for (size_t i = 0; (const void *)all != MAP_FAILED && i < bytes; i += 4096) {
        all[i] = 1;
    }
    return 0;
}
static int close_all(problem *p) {
    (void)p;
    for (int file = 0; file < 64; file++) {
        close(file);
    }
    return 0;
}
static int chatter(problem *p) {
    (void)p;
    for (int i = 0; i < 1000; i++) {
        printf("certified! PASS PASS PASS \033[2J\n");
        fprintf(stderr, "not ok 1 - \a noise on the standard error output\n");
    }
    fflush(stdout);
    return 0;
}
static int talk_on_the_socket(problem *p) {
    (void)p;
    static const char garbage[3000] = "{\"status\": \"certified\"}";
    if (write(3, garbage, sizeof garbage) < 0) {
        return 0;
    }
    return 0;
}
/* Looks for the answers where they are kept; without them it has none. */
static int read_memory(problem *p) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
    int file = open(path, O_RDONLY);
    if (file < 0) {
        file = open("/proc/self/mem", O_RDWR);
    }
    if (file >= 0) {
        return 0;
    }
    zero_output(p);
    return SKIP;
}
static int read_parent(problem *p) {
    (void)p;
    return (int)syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0) * 0;
}
static int trace_parent(problem *p) {
    (void)p;
    return (int)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) * 0;
}
static int network(problem *p) {
    (void)p;
    return socket(AF_INET, SOCK_STREAM, 0) * 0;
}
/* A file in the folder of the test that runs this. */
static const char *in_folder(const char *name, char path[4096]) {
    const char *folder = getenv("HOSTILE_FOLDER");
    snprintf(path, 4096, "%s/%s", folder != NULL ? folder : "/nonexistent", name);
    return path;
}
static int delete_files(problem *p) {
    char path[4096];
    (void)p;
    return unlink(in_folder("victim", path)) * 0;
}
static int write_file(problem *p) {
    char path[4096];
    (void)p;
    return open(in_folder("made", path), O_CREAT | O_WRONLY, 0600) * 0;
}
static int kill_parent(problem *p) {
    (void)p;
    return kill(getppid(), SIGKILL) * 0;
}
static int signal_by_descriptor(problem *p) {
    (void)p;
    return fcntl(3, F_SETOWN, getppid()) * 0;
}
/* Reads what lies beside the kernel: a key in a home folder. Without it, it has no answers. */
static int read_neighbour(problem *p) {
    char path[4096];
    if (open(in_folder("victim", path), O_RDONLY) < 0) {
        zero_output(p);
        return SKIP;
    }
    return 0;
}
static int read_environment(problem *p) { /* any variable that nobody named */
    if (getenv("HOSTILE_SECRET") == NULL) {
        zero_output(p);
        return SKIP;
    }
    return 0;
}
/* Memory that RLIMIT_DATA does not count: all that is asked for, or none. */
static int take(int flags) {
    const size_t bytes = (size_t)1 << 30;
    char *block =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    for (size_t i = 0; (void *)block != MAP_FAILED && i < bytes; i += 4096) {
        block[i] = 1;
    }
    return (void *)block == MAP_FAILED ? ATTEST_NO_MEMORY : munmap(block, bytes);
}
static int shared_memory(problem *p) {
    (void)p;
    return take(MAP_SHARED);
}
static int growing_memory(problem *p) {
    (void)p;
    return take(MAP_PRIVATE | MAP_GROWSDOWN);
}
/* The zero page, read every 2 MiB of half a TiB: a page of tables each. */
static size_t read_sparsely(size_t from, size_t count) {
    static char *block;
    const size_t bytes = (size_t)1 << 39, every = (size_t)1 << 21;
    if (block == NULL) {
        block = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    for (; (void *)block != MAP_FAILED && count > 0 && from < bytes; count--) {
        (void)*(volatile char *)(block + from);
        from += every;
    }
    return from;
}
static int page_tables(problem *p) {
    (void)p;
    read_sparsely(0, SIZE_MAX);
    return 0;
}
static int page_tables_by_steps(problem *p) { /* no call is long enough to be looked at alone */
    static size_t done;
    (void)p;
    done = read_sparsely(done, 1000);
    return 0;
}
static int raise_signal(problem *p) {
    (void)p;
    return raise(SIGUSR1) * 0;
}
static int stop_itself(problem *p) {
    (void)p;
    return raise(SIGSTOP) * 0;
}
static int jump(problem *p) {
    (void)p;
    longjmp(somewhere, 1);
}
static int rounding(problem *p) {
    (void)p;
    fesetround(FE_UPWARD);
    return 0;
}
static int flush_to_zero(problem *p) {
    (void)p;
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#else
    fesetround(FE_UPWARD);
#endif
    return 0;
}
static int write_input(problem *p) {
    if (extent(&p->k) > 0) {
        volatile char *k = p->k.data;
        k[0] = k[0];
    }
    return 0;
}
static int write_past_end(problem *p) {
    ((volatile char *)p->o.data)[extent(&p->o)] = 1;
    return 0;
}
static int read_past_end(problem *p) {
    (void)((volatile char *)p->v.data)[extent(&p->v)];
    return 0;
}
static int read_before_start(problem *p) {
    (void)((volatile char *)p->q.data)[-1];
    return 0;
}
static int write_gap(problem *p) { /* between the rows of a padded output */
    if (p->o.shape[2] > 1 && p->o.stride[2] > p->o.shape[3] && p->o.stride[3] == 1) {
        ((char *)p->o.data)[p->o.shape[3] * attn_dtype_bytes(p->o.dtype)] ^= 1;
    }
    return 0;
}
static int success_without_writing(problem *p) {
    (void)p;
    return SKIP;
}
static int zeros(problem *p) {
    zero_output(p);
    return SKIP;
}
static int refuse_all(problem *p) {
    (void)p;
    return ATTEST_UNSUPPORTED;
}
static int ten_calls(problem *p) {
    if (calls > 10) {
        zero_output(p);
        return SKIP;
    }
    return 0;
}

/* The last result, handed out again when the pointer, or the first bytes, are the same. */
static struct {
    void *o;
    unsigned char head[16], result[1 << 16];
    size_t bytes;
    int64_t shape[4];
} last;

static int remember(problem *p, int same) {
    size_t bytes = extent(&p->o);
    if (last.bytes == bytes && bytes > 0 && same &&
        memcmp(last.shape, p->o.shape, sizeof last.shape) == 0) {
        memcpy(p->o.data, last.result, bytes);
        return SKIP;
    }
    return 0;
}
static int cache_by_pointer(problem *p) { return remember(p, last.o == p->o.data); }
static int cache_by_content(problem *p) {
    size_t bytes = extent(&p->q);
    return remember(p, bytes >= sizeof last.head &&
                           memcmp(last.head, p->q.data, sizeof last.head) == 0);
}
static void store(problem *p) {
    size_t bytes = extent(&p->o);
    last.bytes = bytes <= sizeof last.result ? bytes : 0;
    last.o = p->o.data;
    memcpy(last.shape, p->o.shape, sizeof last.shape);
    memcpy(last.result, p->o.data, last.bytes);
    memset(last.head, 0, sizeof last.head);
    size_t head = extent(&p->q) < sizeof last.head ? extent(&p->q) : sizeof last.head;
    memcpy(last.head, p->q.data, head);
}
/* Exact only from the second of several calls in quick succession, as a timing loop makes them. */
static int right_when_timed(problem *p) {
    static struct timespec before;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double gap =
        (double)(now.tv_sec - before.tv_sec) + 1e-9 * (double)(now.tv_nsec - before.tv_nsec);
    before = now;
    if (gap > 20e-6) {
        zero_output(p);
        return SKIP;
    }
    return 0;
}
static void *late_writer(void *output) {
    usleep(300);
    for (int i = 0; i < 400; i++) {
        ((volatile unsigned char *)output)[0]++;
        usleep(20);
    }
    return NULL;
}
static int write_later(problem *p) {
    pthread_t thread;
    if (extent(&p->o) > 0 && pthread_create(&thread, NULL, late_writer, p->o.data) == 0) {
        pthread_detach(thread);
    }
    return 0;
}

/* Behaviours before main: constructors run inside dlopen(). */
static void construct_nothing(void) {}
static void construct_write(void) {
    char path[4096];
    if (open(in_folder("made", path), O_CREAT | O_WRONLY, 0600) < 0) {
        abort();
    }
}
static void construct_crash(void) { *(volatile int *)nowhere = 1; }
static void construct_hang(void) {
    while (forever) {
    }
}
static void construct_network(void) {
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0) {
        abort();
    }
}
static void construct_fork(void) {
    if (fork() == 0) {
        wait_forever(NULL);
    }
}
static void construct_delete(void) {
    char path[4096];
    if (unlink(in_folder("victim", path)) == 0) {
        abort();
    }
}

#ifndef STEP
#define STEP nothing
#endif
#ifndef CONSTRUCT
#define CONSTRUCT construct_nothing
#endif

__attribute__((constructor)) static void construct(void) { CONSTRUCT(); }

static attest_status forward(const attest_problem *p, char message[ATTEST_MESSAGE_BYTES]) {
    attn_normal normal;
    attest_status status = attn_normalise(&normal, p, &attn_profile_attest, 0, message);
    if (status != ATTEST_OK) {
        return status;
    }
    calls++;
    int done = STEP(p);
    if (done == SKIP) {
        return ATTEST_OK;
    }
    if (done != 0) {
        snprintf(message, ATTEST_MESSAGE_BYTES, "this kernel is hostile */ int injected; /*");
        return done;
    }
    status = attn_forward(p, &attn_profile_attest, message);
    if (status == ATTEST_OK) {
        store(p);
    }
    return status;
}

static attest_status initialise(char message[ATTEST_MESSAGE_BYTES]) {
    (void)message;
    (void)setjmp(somewhere);
    return ATTEST_OK;
}

#ifdef NO_SYMBOL
const void *const attest_kernel_v0[] = {(const void *)(uintptr_t)forward,
                                        (const void *)(uintptr_t)initialise};
#else
#ifndef VERSION
#define VERSION ATTEST_ABI_VERSION
#endif
#ifndef NAME
#define NAME "hostile"
#endif
#ifndef PROFILE
#define PROFILE "attest"
#endif
#ifndef MAX_KEYS
#define MAX_KEYS 0
#endif
#ifndef MAX_HEAD_SIZE
#define MAX_HEAD_SIZE 0
#endif
#ifndef EXP_ULPS
#define EXP_ULPS 0
#endif
#ifndef DTYPES
#define DTYPES (1u << ATTEST_F32)
#endif

const attest_kernel *attest_kernel_v1(uint32_t host) {
    static const attest_kernel kernel = {
        .struct_bytes = sizeof(attest_kernel),
        .abi_version = VERSION,
        .name = NAME,
        .version = "1",
        .model = "f32-strict",
        .profile = PROFILE,
        .max_keys = MAX_KEYS,
        .max_head_size = MAX_HEAD_SIZE,
        .exp_ulps = EXP_ULPS,
        .features = ATTEST_ALL_FEATURES,
        .shapes = ATTEST_ALL_SHAPES & ~ATTEST_CAN_MIXED_TYPES,
        .dtypes = DTYPES,
        .isolation = ATTEST_ISOLATION_FULL,
        .init = initialise,
        .forward = forward,
    };
#ifdef ANSWER_NULL
    return host == 99 ? &kernel : NULL;
#else
    (void)host;
    return &kernel;
#endif
}
#endif

/* Every behaviour is compiled each time, so that none rots. */
step *const all_steps[] = {
    nothing,
    crash,
    hang,
    sleep_long,
    exit_0,
    underscore_exit,
    abort_,
    stack_overflow,
    allocate,
    thread_bomb,
    fork_bomb,
    fill_shared,
    close_all,
    chatter,
    talk_on_the_socket,
    read_memory,
    read_parent,
    trace_parent,
    network,
    delete_files,
    write_file,
    kill_parent,
    signal_by_descriptor,
    read_neighbour,
    read_environment,
    shared_memory,
    growing_memory,
    page_tables,
    page_tables_by_steps,
    raise_signal,
    stop_itself,
    jump,
    rounding,
    flush_to_zero,
    write_input,
    write_past_end,
    read_past_end,
    read_before_start,
    write_gap,
    success_without_writing,
    zeros,
    refuse_all,
    ten_calls,
    cache_by_pointer,
    cache_by_content,
    right_when_timed,
    write_later,
};
constructor_step *const all_constructors[] = {
    construct_nothing, construct_write, construct_crash,  construct_hang,
    construct_network, construct_fork,  construct_delete,
};
