/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers that wait between calls, and what they share: impl/frame/pool.h, impl/frame/share.h. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "impl/frame/pool.h"
#include "impl/frame/share.h"

enum { UNITS = 2000, CALLS = 200, HELPERS = 3 };

/* Each unit is to be done once, by whoever comes first, in the rounding mode of the caller. */
typedef struct task {
    atomic_int next, done, hands, strange;
    int mode;
} task;

static void work(void *argument) {
    task *t = argument;
    atomic_fetch_add(&t->hands, 1);
    while (atomic_fetch_add(&t->next, 1) < UNITS) {
        atomic_fetch_add(&t->strange, fegetround() != t->mode);
        atomic_fetch_add(&t->done, 1);
    }
}

static int one_call(int helpers) {
    task t = {.mode = fegetround()};
    attn_pool_run(work, &t, helpers);
    return t.done == UNITS && t.strange == 0 && t.hands >= 1 && t.hands <= helpers + 1;
}

static void test_calls(void **state) {
    (void)state;
    for (int n = 0; n < CALLS; n++) {
        assert_true(one_call(n % (HELPERS + 1)));
    }
}

/* A call is not over before its last helper is, and every helper that is wanted comes in time. */
static void meet(void *argument) { pthread_barrier_wait(argument); }

static void test_all_come(void **state) {
    (void)state;
    pthread_barrier_t barrier;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, HELPERS + 1), 0);
    attn_pool_run(meet, &barrier, HELPERS);
    assert_int_equal(pthread_barrier_destroy(&barrier), 0);
}

static void test_environment(void **state) {
    (void)state;
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TONEAREST};
    for (int n = 0; n < CALLS; n++) {
        fesetround(modes[n % 3]);
        int right = one_call(HELPERS);
        fesetround(FE_TONEAREST);
        assert_true(right);
    }
}

/* Every unit is taken once, however they are shared and whoever stays away. */
typedef struct shared {
    attn_share share[8];
    int threads;
    atomic_int next_own, taken[100];
} shared;

static void take_all(void *argument) {
    shared *s = argument;
    const int own = atomic_fetch_add(&s->next_own, 1);
    int64_t unit;
    while ((unit = attn_take_unit(s->share, s->threads, own)) >= 0) {
        atomic_fetch_add(&s->taken[unit], 1);
    }
}

static void test_shares(void **state) {
    (void)state;
    for (int threads = 1; threads <= 8; threads++) {
        for (int units = threads; units < 100; units += 1 + units / 3) {
            for (int helpers = 0; helpers < threads; helpers++) {
                shared s = {.threads = threads};
                attn_share_out(s.share, threads, units);
                attn_pool_run(take_all, &s, helpers);
                for (int unit = 0; unit < 100; unit++) {
                    assert_int_equal(s.taken[unit], unit < units);
                }
            }
        }
    }
}

static void *caller(void *argument) {
    int *right = argument;
    for (int n = 0; n < CALLS; n++) {
        *right &= one_call(HELPERS);
    }
    return NULL;
}

static void test_callers(void **state) {
    (void)state;
    pthread_t thread[HELPERS];
    int right[HELPERS];
    for (int n = 0; n < HELPERS; n++) {
        right[n] = 1;
        assert_int_equal(pthread_create(&thread[n], NULL, caller, &right[n]), 0);
    }
    for (int n = 0; n < HELPERS; n++) {
        pthread_join(thread[n], NULL);
        assert_true(right[n]);
    }
}

/* A child has helpers of its own, also when it is born during a call of another thread. */
static void test_fork(void **state) {
    (void)state;
#ifdef __SANITIZE_THREAD__ /* it does not follow threads that a child of several threads starts */
    skip();
#endif
    pthread_t thread;
    int right = 1;
    assert_int_equal(pthread_create(&thread, NULL, caller, &right), 0);
    for (int n = 0; n < 20; n++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            pthread_barrier_t barrier;
            alarm(20);
            pthread_barrier_init(&barrier, NULL, HELPERS + 1);
            attn_pool_run(meet, &barrier, HELPERS);
            _exit(one_call(HELPERS) ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    pthread_join(thread, NULL);
    assert_true(right);
}

int main(void) {
    alarm(120); /* a helper that never comes would be waited for */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),       cmocka_unit_test(test_all_come),
        cmocka_unit_test(test_environment), cmocka_unit_test(test_callers),
        cmocka_unit_test(test_shares),      cmocka_unit_test(test_fork)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
