/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float_theory.h - names, for use in contracts, of what C computes on floats. ACSL's own operators
 * on floats are those of the reals; these are the rounded ones. Nothing here is compiled.
 *
 * proofs/wp/attn.driver links each name to the operation of the proof tool's IEEE model, except
 * f_exp, f_log and f_tanh: they are whatever the functions of elementary.h return, and say no more
 * than that the result depends on the argument alone.
 */
#ifndef ATTN_FLOAT_THEORY_H
#define ATTN_FLOAT_THEORY_H

/*@ axiomatic FloatNames {
  @   predicate same(float x, float y); // equal bits; any NaN is the same as any NaN
  @   logic float f_neg_inf_f32;
  @   logic float f_add(float x, float y);
  @   logic float f_sub(float x, float y);
  @   logic float f_mul(float x, float y);
  @   logic float f_div(float x, float y);
  @   logic float f_max(float x, float y);
  @   logic float f_exp(float x);
  @   logic float f_log(float x);
  @   logic float f_tanh(float x);
  @
  @   predicate same(double x, double y);
  @   logic double f_neg_inf_f64;
  @   logic double f_add(double x, double y);
  @   logic double f_sub(double x, double y);
  @   logic double f_mul(double x, double y);
  @   logic double f_div(double x, double y);
  @   logic double f_max(double x, double y);
  @   logic double f_exp(double x);
  @   logic double f_log(double x);
  @   logic double f_tanh(double x);
  @ }
  @*/

#endif
