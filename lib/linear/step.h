/* SPDX-License-Identifier: BSD-3-Clause */
/* What an operation makes of a word. */
#ifndef STEP_H
#define STEP_H

#include "linear/mf_linear.h"

/** @return false: it cannot have found what it found; else *next is there behind it */
static inline bool linear_step(const struct mf_linear_op *o, uint64_t value, uint64_t *next)
{
	bool equal = o->kind == MF_LINEAR_CAS && value == o->arg[0];
	uint64_t read = o->kind == MF_LINEAR_READ_PART ? value & o->arg[1] : value;

	if ((o->found == MF_LINEAR_VALUE && o->value != read) || (o->found == MF_LINEAR_EQUAL && !equal) ||
	    (o->found == MF_LINEAR_UNEQUAL && equal))
		return false;
	switch (o->kind) {
	case MF_LINEAR_READ:
	case MF_LINEAR_READ_PART:
		*next = value;
		break;
	case MF_LINEAR_CAS:
		*next = equal ? o->arg[1] : value;
		break;
	case MF_LINEAR_FADD:
		*next = value + o->arg[0];
		break;
	case MF_LINEAR_OR:
		*next = value | o->arg[0];
		break;
	case MF_LINEAR_AND:
		*next = value & o->arg[0];
		break;
	case MF_LINEAR_WRITE_PART:
		*next = (value & ~o->arg[1]) | (o->arg[0] & o->arg[1]);
		break;
	default: /* WRITE, SWAP */
		*next = o->arg[0];
	}
	return true;
}

#endif
