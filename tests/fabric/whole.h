/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole fabrics under the virtual clock, from the text of a fabric file to what must hold of the result. */
#ifndef WHOLE_H
#define WHOLE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/mf_time.h"

/** Runs the fabric of this text. @return its "result"; the test fails where it cannot be built or run */
json_t *whole_run(const char *text, bool by_block);

/** The same, and asserts that it is sound. */
json_t *whole_sound(const char *text, bool by_block);

/** Runs it in spans, and goes on until nothing has been under way for so long: ps. @return the same */
json_t *whole_settled(const char *text, mf_time settle);

/**
 * Runs it in spans and block by block, and asserts that both tell the same, whatever it is: the result, the
 * log of messages where the file wants one, and the history.
 * @return the result
 */
json_t *whole_same(const char *text);

/** A number of the result, by path: "drops.switch.room". */
double whole_number(const json_t *result, const char *path);

/**
 * Runs it and asserts that it is sound, that nothing was dropped, timed out or left in the scheduler,
 * that the backlog is within its bound, and that it carried something.
 * @param by_block  compare with a run block by block, too
 * @return the result
 */
json_t *whole_check(const char *text, bool by_block);

#endif
