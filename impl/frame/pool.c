/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "impl/frame/pool.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

enum { PATIENCE = 50000 }; /* nanoseconds, about what waking up takes */

/* The only state that outlives a call. `lock` guards all of it; `wanted` and `working` are also
 * looked at without, and `working` falls without. */
static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t posted, finished;
    void (*work)(void *);
    void *argument;
    fenv_t environment;
    int taken;   /* by a call */
    int started; /* helpers */
    int minds_fork;
    atomic_int wanted;  /* helpers that may still join the call at hand */
    atomic_int working; /* helpers at work */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .posted = PTHREAD_COND_INITIALIZER,
          .finished = PTHREAD_COND_INITIALIZER};

/* Looks at a number until it is above 0 or not, as asked, but not for long. */
static void watch(atomic_int *number, int positive) {
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    while ((atomic_load(number) > 0) != positive) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((now.tv_sec - start.tv_sec) * 1000000000 + (now.tv_nsec - start.tv_nsec) > PATIENCE) {
            return;
        }
    }
}

static void *helper(void *unused) {
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (atomic_load(&pool.wanted) == 0) {
            pthread_cond_wait(&pool.posted, &pool.lock);
        }
        atomic_fetch_sub(&pool.wanted, 1);
        atomic_fetch_add(&pool.working, 1);
        fesetenv(&pool.environment);
        void (*work)(void *) = pool.work;
        void *argument = pool.argument;
        pthread_mutex_unlock(&pool.lock);
        work(argument);
        atomic_fetch_sub(&pool.working, 1);
        pthread_mutex_lock(&pool.lock);
        pthread_cond_signal(&pool.finished);
        pthread_mutex_unlock(&pool.lock);
        watch(&pool.wanted, 1);
        pthread_mutex_lock(&pool.lock);
    }
    return NULL;
}

static void before_fork(void) { pthread_mutex_lock(&pool.lock); }
static void after_fork(void) { pthread_mutex_unlock(&pool.lock); }
static void in_child(void) {
    const struct pool fresh = {.lock = PTHREAD_MUTEX_INITIALIZER,
                               .posted = PTHREAD_COND_INITIALIZER,
                               .finished = PTHREAD_COND_INITIALIZER,
                               .minds_fork = 1};
    pool = fresh;
}

/* Helpers leave signals to the threads of the program, all but those that their own work raises. */
static void start(int helpers) {
    const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
    sigset_t others, before;
    sigfillset(&others);
    for (size_t n = 0; n < sizeof own / sizeof *own; n++) {
        sigdelset(&others, own[n]);
    }
    if (!pool.minds_fork && pthread_atfork(before_fork, after_fork, in_child) != 0) {
        return;
    }
    pool.minds_fork = 1;
    pthread_sigmask(SIG_SETMASK, &others, &before);
    pthread_t thread;
    while (pool.started < helpers && pthread_create(&thread, NULL, helper, NULL) == 0) {
        pthread_detach(thread);
        pool.started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int post(void (*work)(void *), void *argument, int helpers) {
    pthread_mutex_lock(&pool.lock);
    int mine = !pool.taken;
    if (mine) {
        if (pool.started < helpers) {
            start(helpers);
        }
        pool.taken = 1;
        pool.work = work;
        pool.argument = argument;
        fegetenv(&pool.environment);
        atomic_store(&pool.wanted, helpers < pool.started ? helpers : pool.started);
        pthread_cond_broadcast(&pool.posted);
    }
    pthread_mutex_unlock(&pool.lock);
    return mine;
}

void attn_pool_run(void (*work)(void *), void *argument, int helpers) {
    int helped = helpers > 0 && post(work, argument, helpers);
    work(argument);
    if (!helped) {
        return;
    }
    pthread_mutex_lock(&pool.lock);
    atomic_store(&pool.wanted, 0);
    pthread_mutex_unlock(&pool.lock);
    watch(&pool.working, 0);
    pthread_mutex_lock(&pool.lock);
    while (atomic_load(&pool.working) > 0) {
        pthread_cond_wait(&pool.finished, &pool.lock);
    }
    pool.taken = 0;
    pthread_mutex_unlock(&pool.lock);
}
