/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

struct memfab *rig;
int mn0, mn1;
char rig_err[MEMFAB_ERR_LEN];

const char *rig_file(void)
{
	return getenv("MF_CLIENT_FABRIC");
}

void rig_open(const struct memfab_options *options)
{
	int rc = memfab_open(rig_file(), options, &rig, rig_err, sizeof(rig_err));

	if (rc != 0 && strstr(rig_err, "EAL") != NULL)
		cr_skip_test("%s", rig_err);
	cr_assert(rc == 0, "%s", rig_err);
	mn0 = memfab_node(rig, "mn0");
	mn1 = memfab_node(rig, "mn1");
	cr_assert(mn0 >= 0 && mn1 >= 0);
}

void rig_init(void)
{
	rig_open(NULL);
}

void rig_fini(void)
{
	memfab_close(rig);
	rig = NULL;
}

struct memfab_queue *rig_queue(const char *node, unsigned int entries)
{
	struct memfab_queue *q = NULL;
	int rc = memfab_queue_new(rig, node, entries, &q, rig_err, sizeof(rig_err));

	cr_assert(rc == 0, "%s", rig_err);
	return q;
}

struct memfab_sqe *rig_sqe(struct memfab_queue *q)
{
	struct memfab_sqe *s = memfab_get_sqe(q);

	cr_assert_not_null(s);
	return s;
}

struct memfab_cqe rig_take(struct memfab_queue *q)
{
	const struct memfab_cqe *c;
	struct memfab_cqe copy;

	cr_assert_eq(memfab_wait_cqe(q, 1, -1), 0);
	c = memfab_peek_cqe(q);
	cr_assert_not_null(c);
	copy = *c;
	memfab_cq_advance(q, 1);
	return copy;
}

int64_t rig_do(struct memfab_queue *q)
{
	cr_assert_eq(memfab_submit(q), 1);
	return rig_take(q).res;
}

void rig_fill(struct mf_rng *rng, uint8_t *buf, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = (uint8_t)mf_rng_next(rng);
}
