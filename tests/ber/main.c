/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memfab-ber: bit errors against the check of messages, as tables (docs/bit-errors.md). What it does is
 * told by its seed, however many jobs share the work.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ber.h"

#define JOBS_MAX 64
#define SIMD_BITS 512

#define MOST_ERRORS 8

struct options {
	uint64_t seed, messages;
	unsigned int jobs;
	bool pairs;
	struct ber_strength strength[2 * BER_SHAPES][MOST_ERRORS]; /**< what came of it */
};

static const double all_rates[] = {1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4};
#define RATES (sizeof(all_rates) / sizeof(all_rates[0]))

/** Of all that is to be done a table's cell, whatever it is. */
struct cell {
	unsigned int row, column;
};

/** What came of one. */
union outcome {
	struct {
		struct mf_witness_stats checks;
		uint64_t bits_wrong, slips, hi_ber, blocks;
	} line;
	struct ber_strength strength;
	struct ber_pairs pairs;
};

typedef int (*work_fn)(const struct options *o, struct cell c, union outcome *out);

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/** One of the processes that share the cells of a table: every jobs-th. */
static void job(const struct options *o, work_fn work, unsigned int rows, unsigned int columns,
		unsigned int number, int to)
{
	for (unsigned int i = number; i < rows * columns; i += o->jobs) {
		union outcome out;

		memset(&out, 0, sizeof(out));
		if (work(o, (struct cell){i / columns, i % columns}, &out) != 0)
			_exit(1);
		if (write(to, &out, sizeof(out)) != sizeof(out))
			_exit(1);
	}
	_exit(0);
}

/** All cells, row by row; each job's come through a pipe of its own. */
static void do_all(struct options *o, work_fn work, unsigned int rows, unsigned int columns,
		   void (*row)(struct options *o, unsigned int row, const union outcome *cell))
{
	union outcome cell[2 * (MOST_ERRORS + 1)];
	int from[JOBS_MAX], status, ends[2];
	bool good = true;

	fflush(stdout);
	for (unsigned int i = 0; i < o->jobs; i++) {
		if (pipe(ends) != 0)
			fail("pipe");
		from[i] = ends[0];
		if (fork() == 0)
			job(o, work, rows, columns, i, ends[1]);
		close(ends[1]);
	}
	for (unsigned int i = 0; i < rows * columns && good; i++) {
		union outcome *out = &cell[i % columns];

		good = read(from[i % o->jobs], out, sizeof(*out)) == sizeof(*out);
		if (good && i % columns == columns - 1)
			row(o, i / columns, cell);
		fflush(stdout);
	}
	while (wait(&status) > 0)
		good = good && status == 0;
	if (!good)
		fail("memfab-ber");
	for (unsigned int i = 0; i < o->jobs; i++)
		close(from[i]);
}

/* ---- bit error rates ---- */

static int rate_cell(const struct options *o, struct cell c, union outcome *out)
{
	static struct ber_line l;
	int err = ber_line_init(&l, c.column == 1, all_rates[c.row], o->seed, 2 * c.row + c.column);

	if (err != 0)
		return err;
	ber_line_run(&l, o->messages);
	out->line.checks = *mf_witness_stats(l.witness);
	out->line.bits_wrong = l.bits_wrong;
	out->line.blocks = l.blocks;
	out->line.slips = l.slips;
	out->line.hi_ber = l.hi_ber;
	ber_line_fini(&l);
	return 0;
}

static void rate_row(struct options *o, unsigned int row, const union outcome *cell)
{
	(void)o;
	for (unsigned int i = 0; i < 2; i++) {
		const struct mf_witness_stats *s = &cell[i].line.checks;
		uint64_t checked = mf_witness_checked(s);

		printf("| %.0e | %u | %lu | %lu | %lu | %lu | %lu | %lu | %.1e | %lu |\n", all_rates[row],
		       i == 0 ? 16 : 32, checked, cell[i].line.bits_wrong, s->refused_check, s->aborted,
		       s->refused_fields, s->undetected, ber_interval(s->undetected, checked).high,
		       cell[i].line.hi_ber);
	}
}

static void rates(struct options *o)
{
	printf("\n## Bit error rates\n\n"
	       "| rate | check | checked | bits wrong | refused | cut | refused by fields | undetected "
	       "| 95%% bound | hi-BER |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
	do_all(o, rate_cell, RATES, 2, rate_row);
}

/* ---- the check by itself ---- */

/** Columns: bursts, then 2 .. MOST_ERRORS wrong bits. Rows: shapes with 16 bits, then with 32. */
#define PATTERNS MOST_ERRORS

static int strength_cell(const struct options *o, struct cell c, union outcome *out)
{
	unsigned int errors = c.column == 0 ? BER_BURST : c.column + 1;

	return ber_strength(&out->strength, (enum ber_shape)(c.row % BER_SHAPES), c.row >= BER_SHAPES, errors,
			    o->messages, o->seed, c.row * PATTERNS + c.column);
}

static void strength_line(unsigned int row, const char *what, const struct ber_strength *s)
{
	struct ber_interval share = ber_interval(s->passed, s->damaged);
	double passed = (double)s->passed / (double)s->damaged;

	printf("| %s | %u | %s | %lu | %.1f %% | %lu | %lu | %.2e | %.2e .. %.2e | %.2f |\n",
	       ber_shape_name((enum ber_shape)(row % BER_SHAPES)), row >= BER_SHAPES ? 32 : 16, what,
	       s->damaged, 100 * (double)s->aborted / (double)s->damaged, s->passed, s->taken, passed,
	       share.low, share.high, passed * 65536);
}

static void strength_row(struct options *o, unsigned int row, const union outcome *cell)
{
	struct ber_strength all = {0};

	for (unsigned int i = 0; i < PATTERNS; i++) {
		const struct ber_strength *s = &cell[i].strength;
		char what[16] = "burst";

		if (i > 0)
			snprintf(what, sizeof(what), "%u", i + 1);
		strength_line(row, what, s);
		all.damaged += s->damaged;
		all.aborted += s->aborted;
		all.passed += s->passed;
		all.taken += s->taken;
		o->strength[row][i] = *s;
	}
	strength_line(row, "all", &all);
}

/**
 * Share of messages that pass though bits are wrong, where each is with a chance of `rate`: so many at a
 * time as a binomial distribution has it, and of those the share that the table says, or the most that it
 * can be.
 */
static double passing(const struct ber_strength *of, unsigned int bits, double rate, bool most)
{
	double sum = 0, term = pow(1 - rate, bits);

	for (unsigned int n = 1; n <= MOST_ERRORS; n++) {
		const struct ber_strength *s = &of[n - 1];

		term *= (bits - n + 1) * rate / n / (1 - rate);
		if (n >= 3) /* of one and two, none: --pairs */
			sum += term * (most ? ber_interval(s->passed, s->damaged).high
					    : (double)s->passed / (double)s->damaged);
	}
	return sum;
}

static void expected(const struct options *o)
{
	static const double at[] = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4};

	printf("\n## What that comes to\n\n"
	       "Share of all messages that pass though they are damaged; in brackets at most, with 95 %%.\n\n"
	       "| message | check |");
	for (unsigned int i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		printf(" %.0e |", at[i]);
	printf("\n| --- | --- | --- | --- | --- | --- | --- |\n");
	for (unsigned int row = 0; row < 2 * BER_SHAPES; row++) {
		enum ber_shape shape = (enum ber_shape)(row % BER_SHAPES);
		unsigned int bits = ber_shape_bits(shape, row >= BER_SHAPES);

		printf("| %s | %u |", ber_shape_name(shape), row >= BER_SHAPES ? 32 : 16);
		for (unsigned int i = 0; i < sizeof(at) / sizeof(at[0]); i++)
			printf(" %.0e (%.0e) |", passing(o->strength[row], bits, at[i], false),
			       passing(o->strength[row], bits, at[i], true));
		printf("\n");
	}
}

static void strength(struct options *o)
{
	printf("\n## Damaged messages, straight to the check\n\n"
	       "| message | check | bits wrong | damaged | cut | passed the check | and taken | share passed "
	       "| 95 %% | in 2^-16 |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
	do_all(o, strength_cell, 2 * BER_SHAPES, PATTERNS, strength_row);
	expected(o);
}

/* ---- pairs ---- */

#define CHUNK_BLOCKS 32
/** Rows: a single block, a request, then chunks of 1 .. CHUNK_BLOCKS data blocks. */
#define PAIR_ROWS (2 + CHUNK_BLOCKS)

static int pairs_cell(const struct options *o, struct cell c, union outcome *out)
{
	unsigned int octets = c.row < 2 ? 0 : 8 * (c.row - 1);

	return ber_pairs(&out->pairs, octets, c.row == 0, c.column == 1, o->seed);
}

static void pairs_row(struct options *o, unsigned int row, const union outcome *cell)
{
	(void)o;
	for (unsigned int i = 0; i < 2; i++) {
		char what[32] = "notification";

		if (row == 1)
			snprintf(what, sizeof(what), "read request");
		else if (row > 1)
			snprintf(what, sizeof(what), "chunk of %u .. %u B", 8 * (row - 1) - 7, 8 * (row - 1));
		printf("| %s | %u | %u | %lu | %lu |\n", what, i == 0 ? 16 : 32, cell[i].pairs.blocks,
		       cell[i].pairs.pairs, cell[i].pairs.passed);
	}
}

static void pairs(struct options *o)
{
	printf("\n## All pairs of wrong bits\n\n"
	       "| message | check | blocks | pairs | passed the check |\n| --- | --- | --- | --- | --- |\n");
	do_all(o, pairs_cell, PAIR_ROWS, 2, pairs_row);
}

static void usage(FILE *to)
{
	fprintf(to, "usage: memfab-ber [--rates N] [--strength N] [--pairs] [--seed S] [--jobs J]\n"
		    "  --rates N     N checked messages at each bit error rate\n"
		    "  --strength N  N damaged messages of each kind, to the check by itself\n"
		    "  --pairs       all pairs of wrong bits in messages of each length\n");
}

static uint64_t number(const char *text, uint64_t least)
{
	char *end;
	double v = strtod(text, &end);

	if (*end != '\0' || !(v >= (double)least) || v > 1e15) {
		fprintf(stderr, "memfab-ber: '%s' is no number from %lu\n", text, least);
		exit(2);
	}
	return (uint64_t)v;
}

/** What standard output did not take is told. */
static int end(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	perror("memfab-ber: standard output");
	return 1;
}

int main(int argc, char **argv)
{
	static const struct option known[] = {{"rates", required_argument, NULL, 'r'},
					      {"strength", required_argument, NULL, 's'},
					      {"pairs", no_argument, NULL, 'p'},
					      {"seed", required_argument, NULL, 'S'},
					      {"jobs", required_argument, NULL, 'j'},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	struct options o = {.seed = 1, .jobs = 1};
	uint64_t n_rates = 0, n_strength = 0;
	bool given[sizeof(known) / sizeof(known[0])] = {false};
	int c, at = 0;

	while ((c = getopt_long(argc, argv, "", known, &at)) != -1) {
		if (optarg != NULL && given[at]) {
			fprintf(stderr, "memfab-ber: --%s is given twice\n", known[at].name);
			return 2;
		}
		given[at] = true;
		switch (c) {
		case 'r':
			n_rates = number(optarg, 1);
			break;
		case 's':
			n_strength = number(optarg, 1);
			break;
		case 'p':
			o.pairs = true;
			break;
		case 'S':
			o.seed = number(optarg, 0);
			break;
		case 'j':
			o.jobs = (unsigned int)number(optarg, 1);
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? end() : 2;
		}
	}
	if (optind < argc || o.jobs > JOBS_MAX || (n_rates == 0 && n_strength == 0 && !o.pairs)) {
		usage(stderr);
		return 2;
	}
	mf_proto_select(SIMD_BITS);
	mf_pcs_select(SIMD_BITS);
	printf("memfab-ber, seed %lu\n", o.seed);
	if (o.pairs)
		pairs(&o);
	o.messages = n_rates;
	if (n_rates > 0)
		rates(&o);
	o.messages = n_strength;
	if (n_strength > 0)
		strength(&o);
	return end();
}
