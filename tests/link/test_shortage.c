/* SPDX-License-Identifier: BSD-3-Clause */
/* An end of a link is made whole or not at all: whatever there is no memory for, nothing stays behind. */
#include <criterion/criterion.h>
#include <errno.h>

#include "link/mf_link.h"
#include "shortage.h"

static int make(const void *of)
{
	struct mf_link *l = mf_link_new(of, 0);

	if (l == NULL)
		return -errno;
	mf_link_free(l);
	return 0;
}

Test(link_shortage, nothing_stays_behind)
{
	struct mf_link_config c;

	mf_link_config_default(&c);
	c.name = "cn0";
	c.epoch = 1;
	c.period = 2560;
	c.switch_end = false;
	c.id = c.node = 0;
	c.fabric = 0;
	cr_assert_null(mf_link_config_fault(&c));
	shortage_each(make, &c);
}
