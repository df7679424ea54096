/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quantities with units, as people write them, to integers and back. Exact: no floating point.
 *
 * A number is decimal digits, with a point and more digits where the unit makes it whole again
 * ("2.56ns"). No sign, no blanks, no exponent, the unit right behind the number.
 */
#ifndef MF_UNIT_H
#define MF_UNIT_H

#include <stdint.h>

#include "base/mf_time.h"

/** Room for what mf_unit_put_*() write. */
#define MF_UNIT_LEN 32

/**
 * "500ps", "2.56ns", "100us", "2ms", "3s", "10min", "1h"; "0" needs no unit.
 *
 * @return 0; -EINVAL: not such a string, or not whole picoseconds; -ERANGE: 2^63 ps or more
 */
int mf_unit_time(const char *s, mf_time *ps);

/**
 * "64", "1500B", "64KiB", "1.5MiB", "4GiB", "1TiB": octets.
 *
 * @return 0; -EINVAL: not such a string, or not whole octets; -ERANGE: 2^63 or more
 */
int mf_unit_size(const char *s, uint64_t *octets);

/**
 * Nominal Ethernet rate, "10G", "25G", "100G", ...: the time of a 66-bit block. The line is 66/64 as
 * fast as the nominal rate, so a block takes 64 bit times of it: 25.78125 Gb/s, 2,560 ps at "25G".
 *
 * @return 0; -EINVAL: not such a string; -ERANGE: not 1..800, or a block is not whole picoseconds
 */
int mf_unit_rate(const char *s, uint32_t *block_ps);

/** Writes the shortest exact form that the functions above read back; buf has MF_UNIT_LEN. @return buf */
char *mf_unit_put_time(char *buf, mf_time ps);
char *mf_unit_put_size(char *buf, uint64_t octets);
/** @param block_ps  a result of mf_unit_rate() */
char *mf_unit_put_rate(char *buf, uint32_t block_ps);

#endif
