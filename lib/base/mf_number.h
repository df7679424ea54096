/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers without a unit as people write them on a command line. strtod() and strtoull() take more: blanks in
 * front, signs, hexadecimal and octal numbers, infinity. What these take means the same everywhere.
 */
#ifndef MF_NUMBER_H
#define MF_NUMBER_H

#include <stdint.h>

/**
 * Decimal digits and nothing else.
 * @return 0; -EINVAL: it is not that; -ERANGE: 2^63 or more
 */
int mf_number_whole(const char *s, uint64_t *out);

/**
 * Decimal digits, perhaps with a point and an exponent: "2.5", "1e6", ".5".
 * @return what follows the number; NULL: there is none, or it is hexadecimal
 */
const char *mf_number_real(const char *s, double *out);

#endif
