/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "client_test.h"

static const struct mf_client_target targets[] = {{0, 0}, {1, 8192}, {TEST_NODE, 0}, {3, 64}};

struct mf_client_config test_config(struct mf_node *h)
{
	return (struct mf_client_config){.host = h,
					 .node = TEST_NODE,
					 .seed = 11,
					 .mix = {1},
					 .size_min = 64,
					 .targets = targets,
					 .targets_count = 4,
					 .span = TEST_SPAN,
					 .depth = 8,
					 .stop = MF_NEVER,
					 .theta = 0.9,
					 .verify = true};
}

void test_mix_all(struct mf_client_config *config)
{
	for (int k = 0; k < MF_CLIENT_KINDS; k++)
		config->mix[k] = 1;
	config->mix[MF_CLIENT_READ] = 5;
}

mf_time test_drive(struct mf_client *c, struct mf_node *h, mf_time from, mf_time until)
{
	mf_time now = from;

	for (;;) {
		mf_time next = mf_client_run(c, now);

		next = mf_time_min(next, fake_host_next(h));
		if (next == MF_NEVER || next > until)
			return now;
		cr_assert(next >= now);
		now = next;
	}
}

struct mf_client_stats *test_run(const struct mf_client_config *config)
{
	struct mf_client *c = mf_client_new(config);
	struct mf_client_stats *s = malloc(sizeof(*s));
	mf_time end;

	cr_assert_not_null(c);
	end = test_drive(c, config->host, 0, MF_NEVER);
	cr_assert(mf_client_finished(c, mf_time_max(end, config->stop == MF_NEVER ? 0 : config->stop)));
	*s = *mf_client_stats(c);
	mf_client_free(c);
	return s;
}
