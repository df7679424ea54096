/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch is made whole or not at all: whatever there is no memory for, nothing stays behind. */
#include <criterion/criterion.h>
#include <errno.h>

#include "rig.h"
#include "shortage.h"

#define PORTS 3

static struct mf_switch_config config;

static int make(const void *of)
{
	struct mf_switch *sw = mf_switch_new(of);

	if (sw == NULL)
		return -errno;
	mf_switch_free(sw);
	return 0;
}

Test(switch_shortage, alone)
{
	rig_config(&config, PORTS);
	shortage_each(make, &config);
	config.limits = (struct mf_switch_limits){.share = 4, .burst = 64, .outstanding = 4};
	shortage_each(make, &config);
}

Test(switch_shortage, one_of_two)
{
	rig_config(&config, PORTS);
	config.redundant = config.epoch_known = config.begins = config.in_order = true;
	config.chunk = 256;
	config.take_again = MF_US(10);
	config.proto.ext = true;
	shortage_each(make, &config);
}
