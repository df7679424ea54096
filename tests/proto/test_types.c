/* SPDX-License-Identifier: BSD-3-Clause */
/* The block types and why (docs/wire-format.md): distances in bits. */
#include <criterion/criterion.h>

#include "pcs/mf_block.h"

static const uint8_t standard[] = {MF_BT_C,  MF_BT_C_O4, MF_BT_C_S4, MF_BT_O_S4, MF_BT_O_O4,
				   MF_BT_S,  MF_BT_O_C,  MF_BT_T0,   MF_BT_T1,   MF_BT_T2,
				   MF_BT_T3, MF_BT_T4,   MF_BT_T5,   MF_BT_T6,   MF_BT_T7};
static const uint8_t own[] = {MF_BT_MS, MF_BT_MT, MF_BT_MST, MF_BT_N, MF_BT_G};

static int distance(unsigned int a, unsigned int b)
{
	return __builtin_popcount(a ^ b);
}

Test(types, distances)
{
	for (unsigned int i = 0; i < sizeof(own); i++) {
		for (unsigned int j = 0; j < i; j++)
			cr_assert_geq(distance(own[i], own[j]), 4, "%#x %#x", own[i], own[j]);
		for (unsigned int j = 0; j < sizeof(standard); j++)
			cr_assert_geq(distance(own[i], standard[j]), 2, "%#x %#x", own[i], standard[j]);
	}
	for (unsigned int i = 0; i < sizeof(standard); i++)
		for (unsigned int j = 0; j < i; j++)
			cr_assert_geq(distance(standard[i], standard[j]), 4);
}

/* One wire error (taps 39 and 58, 19 apart) reaches a type octet once: no type turns into another. */
Test(types, one_wire_error_makes_no_type_of_another)
{
	for (unsigned int i = 0; i < sizeof(own); i++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			for (unsigned int j = 0; j < sizeof(own); j++)
				cr_assert_neq(own[i] ^ 1u << bit, own[j]);
			for (unsigned int j = 0; j < sizeof(standard); j++)
				cr_assert_neq(own[i] ^ 1u << bit, standard[j]);
		}
	}
}

/* All of them out of the coset 0x03 ^ code. The code: the standard types and 0, closed under XOR. */
Test(types, out_of_one_coset)
{
	bool code[256] = {true};

	for (unsigned int i = 0; i < sizeof(standard); i++)
		code[standard[i]] = true;
	for (unsigned int a = 0; a < 256; a++)
		for (unsigned int b = 0; b < 256; b++)
			cr_assert(!code[a] || !code[b] || code[a ^ b],
				  "the standard types are a linear code");
	for (unsigned int i = 0; i < sizeof(own); i++)
		cr_assert(code[own[i] ^ 0x03]);
}
