/* SPDX-License-Identifier: BSD-3-Clause */
/* What a check finds. */
#ifndef FINDING_H
#define FINDING_H

#include <jansson.h>
#include <stddef.h>

enum level { PASS, WARN, FAIL, LEVELS };

/** All zero to begin with. */
struct finding {
	enum level level;
	char found[1024];
	char mend[1024]; /**< of WARN and FAIL: what to type */
	json_t *detail; /**< owned; NULL: found says it all */
};

extern const char *const level_name[LEVELS];

/** Adds to what was found. */
void say(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Makes it at least so bad; adds what to type, which replaces what was so for less. */
void worse(struct finding *f, enum level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
