/* SPDX-License-Identifier: BSD-3-Clause */
/* Where there is no memory for a history, or for its check, it is told, and nothing stays behind. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history_sim.h"
#include "linear/mf_linear.h"
#include "shortage.h"

static int make(const void *of)
{
	struct mf_history *h = mf_history_new(of, 3, 1 << 16);

	if (h == NULL)
		return -errno;
	mf_history_free(h);
	return 0;
}

Test(linear_shortage, of_a_history)
{
	const struct mf_history_config c = {.fingerprint = 1};

	shortage_each(make, &c);
}

static struct sim sim = {.config = {.fingerprint = 5, .in_order = true, .tells = true},
			 .hot = 512,
			 .len_max = 64,
			 .plain = .3,
			 .rmw = .2,
			 .restart = .02};

/** With a bit of all that there can be. */
static void history(void)
{
	struct mf_history_record zeroed = {.addr = 2048, .len = 64, .kind = MF_HISTORY_ZEROED};
	struct mf_history_log *l;

	mf_rng_init(&sim.rng, 1, "history", 0);
	sim_run(&sim, 200);
	l = mf_history_log(sim.h, 0);
	mf_history_unknown(l, 0, 1024, 64);
	zeroed.call = sim.now;
	mf_history_end(l, mf_history_begin(l, &zeroed, NULL), sim.now + 1, MF_HISTORY_OK, 0, NULL);
}

static int check(const void *of)
{
	const struct mf_history *h = of;
	struct mf_history_verdict v;
	int rc = mf_history_check(&h, 1, 0, &v);

	if (rc == 0)
		mf_history_verdict_free(&v);
	return rc;
}

Test(linear_shortage, of_a_check)
{
	history();
	shortage_each(check, sim.h);
	mf_history_free(sim.h);
}

static int write_to_nobody(const void *of)
{
	FILE *out = fopen("/dev/null", "w");
	int rc = mf_history_write(of, out);

	fclose(out);
	return rc;
}

Test(linear_shortage, of_what_is_written)
{
	history();
	shortage_each(write_to_nobody, sim.h);
	mf_history_free(sim.h);
}

struct image {
	char *octets;
	size_t len;
};

static int parse(const void *of)
{
	const struct image *i = of;
	char err[256] = "";
	struct mf_history *h;

	errno = 0;
	h = mf_history_parse(i->octets, i->len, err, sizeof(err));
	if (h == NULL)
		return strstr(err, strerror(ENOMEM)) != NULL ? -ENOMEM : -EINVAL;
	mf_history_free(h);
	return 0;
}

Test(linear_shortage, of_what_is_read)
{
	struct image i;
	FILE *f;

	history();
	f = open_memstream(&i.octets, &i.len);
	cr_assert_eq(mf_history_write(sim.h, f), 0);
	fclose(f);
	mf_history_free(sim.h);
	shortage_each(parse, &i);
	free(i.octets);
}

static int search(const void *of)
{
	struct mf_linear *l = mf_linear_new(100, 1 << 20);

	(void)of;
	if (l == NULL)
		return -errno;
	mf_linear_free(l);
	return 0;
}

Test(linear_shortage, of_a_search)
{
	shortage_each(search, NULL);
}
