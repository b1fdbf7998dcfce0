/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - helpers that wait between calls, because a small call is over before a new thread has
 * started. The first call that asks for helpers starts them; they are parked ever after, without a
 * signal of their own to handle, and never unloaded (rules.mk: nodelete). A child process begins
 * without them. One call has them at a time: another that comes meanwhile works alone.
 */
#ifndef ATTN_POOL_H
#define ATTN_POOL_H

/*
 * Calls work(argument) on this thread and on up to `helpers` others at once, in this thread's
 * floating-point environment; returns when all of them have returned. work returns only when
 * nothing is left to do: a helper that has not begun by then is not waited for. A helper that
 * cannot be started is done without. Helpers live on, on the processors and in the class of whoever
 * called first.
 */
void attn_pool_run(void (*work)(void *), void *argument, int helpers);

#endif
