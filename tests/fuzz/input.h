/* SPDX-License-Identifier: BSD-3-Clause */
/* The input of a target that is a list of steps: taken from its front. What is not there is 0. */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
	const uint8_t *next;
	size_t left;
};

/** Says which one it was: what a sanitizer prints of an inlined function is the line of no caller. */
#define require(good) require_at(good, __FILE__, __LINE__)
static inline void require_at(bool good, const char *file, int line)
{
	if (good)
		return;
	fprintf(stderr, "%s:%d: does not hold\n", file, line);
	abort();
}

/** @param max  octets @return how many there were */
static inline size_t take_octets(struct input *in, void *to, size_t max)
{
	size_t n = max < in->left ? max : in->left;

	if (n > 0)
		memcpy(to, in->next, n);
	in->next += n;
	in->left -= n;
	return n;
}

/** A number of so many octets, at most 8. */
static inline uint64_t take(struct input *in, size_t octets)
{
	uint64_t value = 0;

	take_octets(in, &value, octets);
	return value;
}

#endif
