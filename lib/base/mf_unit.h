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

/** Of the slowest and the fastest rate: "1M" and "1000G", ps a block. */
#define MF_UNIT_BLOCK_MAX 64000000
#define MF_UNIT_BLOCK_MIN 64

/**
 * Nominal Ethernet rate, "1M", "2.5G", "25G", "100G", ...: the time of a 66-bit block. The line is 66/64 as
 * fast as the nominal rate, so a block takes 64 bit times of it: 25.78125 Gb/s, 2,560 ps at "25G".
 *
 * @return 0; -EINVAL: not such a string; -ERANGE: not "1M" to "1000G"; -EDOM: it is, but a block does not
 * take whole picoseconds, or the rate is not of whole bits a second: mf_unit_near_rates()
 */
int mf_unit_rate(const char *s, uint32_t *block_ps);
/** The same of a number. @param bits  a second, 1.. @return ps a block; 0: it has none, see mf_unit_rate() */
uint32_t mf_unit_block(uint64_t bits);

/**
 * The two rates next to one that has no whole block time, each with one.
 * @param s     a string for which mf_unit_rate() returns -EDOM
 * @param near  ps a block of the next rate below and above
 */
void mf_unit_near_rates(const char *s, uint32_t near[2]);
/** The same of a number. @param bits  a second, those of "1M" to those of "1000G" */
void mf_unit_near_blocks(uint64_t bits, uint32_t near[2]);

/**
 * "500M", "12.8G", "1T": bits a second, decimal units.
 *
 * @return 0; -EINVAL: not such a string, or not whole bits; -ERANGE: 2^63 or more
 */
int mf_unit_bits(const char *s, uint64_t *bits);

/** Writes the shortest exact form that the functions above read back; buf has MF_UNIT_LEN. @return buf */
char *mf_unit_put_time(char *buf, mf_time ps);
char *mf_unit_put_size(char *buf, uint64_t octets);
char *mf_unit_put_bits(char *buf, uint64_t bits);
/** @param block_ps  a result of mf_unit_rate() */
char *mf_unit_put_rate(char *buf, uint32_t block_ps);

#endif
