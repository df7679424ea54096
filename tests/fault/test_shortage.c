/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults are made whole or not at all: whatever there is no memory for, nothing stays behind. */
#include <criterion/criterion.h>
#include <errno.h>

#include "fault/mf_fault.h"
#include "shortage.h"
#include "systems/edm/fault/mf_witness.h"

#define PERIOD 2560

static const struct mf_proto proto = {.ext = true};

static int make(const void *of)
{
	struct mf_fault *f = mf_fault_new(of);

	if (f == NULL)
		return -errno;
	mf_fault_free(f);
	return 0;
}

Test(fault_shortage, of_blocks)
{
	const struct mf_fault_rule rule = {.class = MF_FAULT_BIT, .rate = .5, .until = MF_NEVER};
	struct mf_fault_config c = {.rule = &rule, .rules = 1, .period = PERIOD};

	shortage_each(make, &c);
	c.proto = &proto;
	shortage_each(make, &c);
}

static struct mf_fault_secret look(void *ctx, unsigned int region, uint16_t node, unsigned int right)
{
	(void)ctx, (void)region, (void)node, (void)right;
	return (struct mf_fault_secret){.key = 1};
}

Test(fault_shortage, of_forged_messages)
{
	const struct mf_fault_rule rule = {.class = MF_FAULT_FORGE, .rate = .5, .until = MF_NEVER};
	const struct mf_fault_region region = {.size = 4096, .node = 1};
	const struct mf_fault_secrets secrets = {.region = &region, .regions = 1, .look = look};
	const struct mf_fault_config c = {.rule = &rule,
					  .rules = 1,
					  .period = PERIOD,
					  .pace = PERIOD,
					  .proto = &proto,
					  .nodes = 2,
					  .secrets = &secrets};

	shortage_each(make, &c);
}

static int witness(const void *of)
{
	struct mf_witness *w = mf_witness_new(of);

	if (w == NULL)
		return -errno;
	mf_witness_free(w);
	return 0;
}

Test(fault_shortage, of_a_witness)
{
	shortage_each(witness, &proto);
}
