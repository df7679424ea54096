/* SPDX-License-Identifier: BSD-3-Clause */
/* What is made of a graph, where there is no memory for it. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "graphs.h"
#include "shortage.h"
#include "topology/mf_classes.h"
#include "topology/mf_hpcc.h"
#include "topology/mf_routes.h"

static int make_routes(const void *of)
{
	struct mf_routes *r;
	int rc = mf_routes_new(of, 1, &r);

	if (rc == 0)
		mf_routes_free(r);
	return rc;
}

static int find_circle(const void *of)
{
	int n = mf_routes_cycle(of, NULL, 0);

	return n > 0 ? 0 : n;
}

static int divide(const void *of)
{
	uint8_t class[64];

	return mf_topology_classes(of, class) == MF_NONE ? -errno : 0;
}

static int measure(const void *of)
{
	int n = mf_topology_width(of);

	return n > 0 ? 0 : n;
}

static int parse(const void *of)
{
	char err[MF_HPCC_ERROR] = "";
	struct mf_hpcc *h;
	int rc = mf_hpcc_parse(of, strlen(of), &h, err, sizeof(err));

	if (rc == 0)
		mf_hpcc_free(h);
	else
		cr_assert(strstr(err, "memory") != NULL);
	return rc;
}

Test(topology_memory, for_routes_and_what_is_found_in_them)
{
	struct mf_topology *t = graph_ring(5);
	struct mf_routes *r;

	shortage_each(make_routes, t);
	shortage_each(divide, t);
	shortage_each(measure, t);
	cr_assert_eq(mf_routes_new(t, 1, &r), 0);
	shortage_each(find_circle, r);
	mf_routes_free(r);
	mf_topology_free(t);
}

Test(topology_memory, for_a_file)
{
	shortage_each(parse, "3 1 2\n2\n0 2 1Gbps 1ns 0\n1 2 1Gbps 1ns 0\n");
}
