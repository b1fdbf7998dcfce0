/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "certify/worker/call.h"

#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static unsigned char *slot_base(int slot) {
    return (unsigned char *)(uintptr_t)(ATTEST_WORKER_BASE + ((uint64_t)slot << ATTEST_SLOT_SHIFT));
}

static int reserve(unsigned char *from, uint64_t bytes, int fixed) {
    return mmap(from, (size_t)bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed,
                -1, 0) == (void *)from;
}

int attest_windows_reserve(attest_windows *windows) {
    memset(windows->mapped, 0, sizeof windows->mapped);
    return reserve(slot_base(0), (uint64_t)ATTEST_SLOTS << ATTEST_SLOT_SHIFT, MAP_FIXED_NOREPLACE);
}

static int show(attest_windows *windows, int slot, const attest_place *place) {
    attest_place *now = &windows->mapped[slot];
    const attest_place none = {0};
    if (!place->present) {
        place = &none;
    }
    if (now->map_offset == place->map_offset && now->map_bytes == place->map_bytes) {
        *now = *place;
        return 1;
    }
    unsigned char *base = slot_base(slot);
    if (now->map_bytes > 0 && !reserve(base + now->map_offset, now->map_bytes, MAP_FIXED)) {
        return 0;
    }
    *now = none;
    if (place->map_bytes > 0) {
        int input = slot < ATTEST_INPUT_SLOTS;
        int file_slot = input ? slot : slot - ATTEST_INPUT_SLOTS;
        off_t position = (off_t)(((uint64_t)file_slot << ATTEST_SLOT_SHIFT) + place->map_offset);
        void *got = mmap(base + place->map_offset, (size_t)place->map_bytes,
                         input ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                         input ? windows->inputs : windows->outputs, position);
        if (got == MAP_FAILED) {
            return 0;
        }
    }
    *now = *place;
    return 1;
}

static void *pointer(int slot, const attest_place *place) {
    return place->present ? slot_base(slot) + place->data_offset : NULL;
}

static uint32_t control_word(void) {
#if defined(__x86_64__)
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    /* Rounding, FTZ, DAZ, precision and masks; not the sticky flags. */
    return (_mm_getcsr() & 0xffc0u) | (uint32_t)(x87 & 0x0f3fu) << 16;
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return (uint32_t)fpcr;
#else
    return (uint32_t)fegetround();
#endif
}

static void default_environment(void) { fesetenv(FE_DFL_ENV); }

typedef struct caller {
    const attest_kernel *kernel;
    attest_problem problem;
    attest_status status;
    int altered; /* the floating-point environment did not survive */
    int wrote_metadata;
    char text[ATTEST_MESSAGE_BYTES];
    unsigned char *o, *lse, *workspace;
    uint64_t o_skipped, lse_skipped; /* bytes of the outputs before this caller's first entry */
    pthread_barrier_t *start;
} caller;

static void *call_forward(void *argument) {
    caller *c = argument;
    if (c->start != NULL) {
        pthread_barrier_wait(c->start);
    }
    default_environment();
    const uint32_t before = control_word();
    struct {
        attest_problem problem;
        unsigned char later[ATTEST_LATER_BYTES];
    } given = {.problem = c->problem};
    memset(given.later, c->problem.struct_bytes > sizeof c->problem, sizeof given.later);
    c->status = c->kernel->forward(&given.problem, c->text);
    c->altered = control_word() != before;
    c->wrote_metadata = memcmp(&given.problem, &c->problem, sizeof c->problem) != 0;
    default_environment();
    c->text[sizeof c->text - 1] = '\0';
    return NULL;
}

/* Callers after the first write to copies of the outputs, as far from a page's start as these. */
static unsigned char *twin(const void *shared, uint64_t bytes, void **moved) {
    if (shared == NULL) {
        return NULL;
    }
    unsigned char *block = aligned_alloc(4096, (size_t)((bytes + 2 * 4096) & ~UINT64_C(4095)));
    if (block != NULL) {
        *moved = block + (uintptr_t)shared % 4096;
        memcpy(*moved, shared, (size_t)bytes);
    }
    return block;
}

static int make_twin(caller *c, const attest_wire_call *call) {
    c->o = twin(c->problem.o.data, call->place[ATTEST_SLOT_O].data_bytes, &c->problem.o.data);
    c->lse =
        twin(c->problem.lse.data, call->place[ATTEST_SLOT_LSE].data_bytes, &c->problem.lse.data);
    c->workspace = twin(c->problem.workspace, call->place[ATTEST_SLOT_WORKSPACE].data_bytes,
                        &c->problem.workspace);
    return (c->o || !c->problem.o.data) && (c->lse || !c->problem.lse.data) &&
           (c->workspace || !c->problem.workspace);
}

/* Bits, and any NaN equals any NaN, is for attest to say; here one object computes the same data in
 * several threads at once, so plain bytes decide. */
static int same_outputs(const caller *a, const caller *b, const attest_wire_call *call) {
    const attest_place *o = &call->place[ATTEST_SLOT_O], *lse = &call->place[ATTEST_SLOT_LSE];
    return a->status == b->status &&
           (!o->present || memcmp(a->problem.o.data, b->problem.o.data,
                                  (size_t)(o->data_bytes - a->o_skipped)) == 0) &&
           (!lse->present || memcmp(a->problem.lse.data, b->problem.lse.data,
                                    (size_t)(lse->data_bytes - a->lse_skipped)) == 0);
}

static uint64_t type_bytes(attest_dtype dtype) {
    return dtype == ATTEST_BOOL                          ? 1
           : dtype == ATTEST_F16 || dtype == ATTEST_BF16 ? 2
           : dtype == ATTEST_F32                         ? 4
                                                         : 8;
}

static uint64_t skip_entry(attest_tensor *t) {
    const uint64_t bytes = (uint64_t)t->stride[0] * type_bytes(t->dtype);
    if (t->data == NULL || t->shape[0] < 2) {
        return 0;
    }
    t->data = (unsigned char *)t->data + bytes;
    t->shape[0]--;
    return bytes;
}

/* Another problem in the same memory: all batch entries but the first. 0 if there is no such. */
static int skip_first_entry(caller *c) {
    attest_problem *p = &c->problem;
    if (p->q.shape[0] < 2) {
        return 0;
    }
    skip_entry(&p->q);
    skip_entry(&p->k);
    skip_entry(&p->v);
    skip_entry(&p->key_lengths);
    skip_entry(&p->offsets);
    if (p->mask.rank == 4) {
        skip_entry(&p->mask);
    }
    if (p->slopes.rank == 2) {
        skip_entry(&p->slopes);
    }
    c->o_skipped = skip_entry(&p->o);
    c->lse_skipped = skip_entry(&p->lse);
    return c->kernel->workspace_bytes == NULL ||
           c->kernel->workspace_bytes(p) <= p->workspace_bytes;
}

static void prepare_caller(caller *c, const attest_wire_call *call, pthread_barrier_t *start) {
    c->start = start;
    if (!make_twin(c, call)) {
        _exit(1);
    }
}

static void free_twin(caller *c) {
    free(c->o);
    free(c->lse);
    free(c->workspace);
}

/* Every other caller works on other data, so that state they share between them cannot agree by
 * accident; `alone` is what those must give. */
static void call_together(caller *first, const attest_wire_call *call, attest_wire_done *done) {
    enum { MOST = 16 };
    caller callers[MOST], alone = *first;
    pthread_t threads[MOST];
    unsigned count = call->callers < 2 ? 2 : call->callers > MOST ? MOST : call->callers;
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, count);
    prepare_caller(&alone, call, NULL);
    const int differ = skip_first_entry(&alone);
    for (unsigned i = 0; i < count; i++) {
        callers[i] = *first;
        callers[i].start = &start;
        if (i > 0) {
            prepare_caller(&callers[i], call, &start);
        }
        if (i % 2 == 1 && differ) {
            skip_first_entry(&callers[i]);
        }
    }
    if (differ) {
        call_forward(&alone);
    }
    for (unsigned i = 1; i < count; i++) {
        if (pthread_create(&threads[i], NULL, call_forward, &callers[i]) != 0) {
            _exit(1);
        }
    }
    call_forward(&callers[0]);
    for (unsigned i = 1; i < count; i++) {
        pthread_join(threads[i], NULL);
        if (!same_outputs(i % 2 == 1 && differ ? &alone : &callers[0], &callers[i], call)) {
            done->faults |= ATTEST_FAULT_TOGETHER;
        }
        callers[0].altered |= callers[i].altered;
        callers[0].wrote_metadata |= callers[i].wrote_metadata;
        free_twin(&callers[i]);
    }
    free_twin(&alone);
    pthread_barrier_destroy(&start);
    *first = callers[0];
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Data pointers stay NULL: supports() is asked before data exist. */
static void ask_support(const attest_kernel *kernel, const attest_problem *problem,
                        attest_wire *answer) {
    attest_wire_done *done = &answer->u.done;
    char second[ATTEST_MESSAGE_BYTES] = "";
    if (kernel->supports != NULL) {
        done->status = kernel->supports(problem, answer->text);
        if (kernel->supports(problem, second) != done->status) {
            done->faults |= ATTEST_FAULT_SUPPORTS_VARIES;
        }
    }
    if (done->status == ATTEST_OK && kernel->workspace_bytes != NULL) {
        done->workspace_bytes = kernel->workspace_bytes(problem);
    }
}

void attest_call(const attest_kernel *kernel, attest_windows *windows, const attest_wire_call *call,
                 attest_wire *answer) {
    attest_wire_done *done = &answer->u.done;
    caller c = {.kernel = kernel, .problem = call->problem};
    if (call->kind == ATTEST_CALL_SUPPORTS) {
        ask_support(kernel, &c.problem, answer);
        return;
    }
    if (!attest_wire_places_fit(call, (uint64_t)sysconf(_SC_PAGESIZE))) {
        _exit(1);
    }
    for (int slot = 0; slot < ATTEST_SLOTS; slot++) {
        if (!show(windows, slot, &call->place[slot])) {
            _exit(1);
        }
        attest_tensor *tensor = attest_slot_tensor(&c.problem, slot);
        if (tensor != NULL) {
            tensor->data = pointer(slot, &call->place[slot]);
        } else {
            c.problem.workspace = pointer(slot, &call->place[slot]);
        }
    }
    const uint64_t start = now_ns();
    if (call->kind == ATTEST_CALL_TOGETHER) {
        call_together(&c, call, done);
    } else {
        call_forward(&c);
    }
    done->nanoseconds = now_ns() - start;
    done->status = c.status;
    done->faults |= c.altered ? ATTEST_FAULT_ENVIRONMENT : 0u;
    done->faults |= c.wrote_metadata ? ATTEST_FAULT_WROTE_METADATA : 0u;
    memcpy(answer->text, c.text, sizeof answer->text);
}
