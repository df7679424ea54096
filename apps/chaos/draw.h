/* SPDX-License-Identifier: BSD-3-Clause */
/* What is drawn for a case, and how it is written into its JSON. */
#ifndef DRAW_H
#define DRAW_H

#include <jansson.h>
#include <stdbool.h>

#include "base/mf_rng.h"
#include "base/mf_time.h"

static inline uint64_t draw(struct mf_rng *r, uint64_t n)
{
	return mf_rng_below(r, n);
}

/** lo..hi */
static inline uint64_t draw_from(struct mf_rng *r, uint64_t lo, uint64_t hi)
{
	return lo + mf_rng_below(r, hi - lo + 1);
}

static inline bool draw_often(struct mf_rng *r, double share)
{
	return mf_rng_double(r) < share;
}

/** From lo to hi, each power of ten as likely. */
double draw_rate(struct mf_rng *r, double lo, double hi);

/** One of an array. */
#define DRAW_OF(r, array) ((array)[draw((r), sizeof(array) / sizeof((array)[0]))])

/* The object under a key, made where there is none; the value replaces what was there. */
json_t *put_object(json_t *in, const char *key);
void put_text(json_t *in, const char *key, const char *text);
void put_time(json_t *in, const char *key, mf_time t);
void put_number(json_t *in, const char *key, uint64_t n);
void put_bool(json_t *in, const char *key, bool value);

#endif
