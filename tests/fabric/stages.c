/* SPDX-License-Identifier: BSD-3-Clause */
/* Table 1: where the time of every kind of operation goes, to the picosecond, whatever the stages cost. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

#include "run/mf_fabric.h"

/* One operation of 64 B at a time; room for the names of rate and scheduler time. */
static const char text[] =
	"{\"clock\": {\"virtual\": {\"warmup\": \"0\", \"duration\": \"100us\"}},"
	" \"nodes\": [{\"name\": \"cn\", \"role\": \"compute\"}, {\"name\": \"mn\", \"role\": \"memory\"}],"
	" \"link\": {\"rate\": \"%s\", \"propagation\": \"10ns\"}, \"scheduler\": {\"time\": \"%s\"},"
	" \"workload\": [{\"mix\": {\"read\": 1, \"write\": 1, \"write_ack\": 1, \"cas\": 1}, \"size\": %u,"
	"                 \"loop\": \"open\","
	"                 \"rate\": 200000, \"arrival\": \"constant\", \"depth\": 1}],"
	" \"report\": {\"stages\": true}}";

static void parse(struct mf_config *config, const char *rate, const char *scheduler, unsigned int size)
{
	char file[sizeof(text) + 64], err[256];
	int n = snprintf(file, sizeof(file), text, rate, scheduler, size);

	cr_assert_eq(mf_config_parse(file, (size_t)n, "table1", config, err, sizeof(err)), 0, "%s", err);
}

/** Runs it; it must be sound. @return the result, the caller's */
static json_t *run(const struct mf_config *config)
{
	struct mf_run_options options = {0};
	char err[256];
	struct mf_fabric *f = mf_fabric_new(config, MF_CLOCK_VIRTUAL, err, sizeof(err));
	json_t *result;

	cr_assert_not_null(f, "%s", err);
	cr_assert_eq(mf_fabric_run(f, &options), 0);
	cr_assert(mf_fabric_sound(f, err, sizeof(err)), "%s", err);
	result = mf_fabric_result(f);
	cr_assert_not_null(result);
	mf_fabric_free(f);
	return result;
}

/** The value at "a/b/c"; it must be there. */
static json_t *at(json_t *o, const char *path)
{
	char copy[128], *key, *rest;

	snprintf(copy, sizeof(copy), "%s", path);
	for (key = strtok_r(copy, "/", &rest); key != NULL; key = strtok_r(NULL, "/", &rest)) {
		o = json_object_get(o, key);
		cr_assert_not_null(o, "%s", path);
	}
	return o;
}

static json_int_t count(json_t *o, const char *path)
{
	return json_integer_value(at(o, path));
}

/** Picoseconds of a time in ns: whole, since reals of this size hold them. */
static json_int_t ps(json_t *o, const char *path)
{
	return (json_int_t)(json_real_value(at(o, path)) * 1000 + 0.5);
}

static const char *const kind[] = {"read", "write", "write_ack", "atomic"};
#define KINDS (sizeof(kind) / sizeof(kind[0]))
enum { READ, WRITE, WRITE_ACK, ATOMIC };

static json_int_t sum_of(json_t *all, unsigned int k, const char *key)
{
	char path[64];

	snprintf(path, sizeof(path), "result/stages/%s/sum/%s", kind[k], key);
	return count(all, path);
}

/** How often a stage occurs in an operation, by its stamps. */
static json_int_t occurrences(json_t *all, unsigned int k, enum mf_stage stage)
{
	char path[64];
	json_t *o;

	snprintf(path, sizeof(path), "result/stages/%s/stages", kind[k]);
	o = json_object_get(at(all, path), mf_stage_name(stage));
	return o != NULL ? json_integer_value(json_object_get(o, "count")) : 0;
}

/** The parts add up to what client and memory node measured. */
static void check_parts(json_t *all)
{
	static const char *const measured[] = {
		"result/operations/kinds/read/latency", "result/delivery/writes/effect",
		"result/operations/kinds/write_ack/latency", "result/operations/kinds/cas/latency"};
	static const char *const part[] = {"fabric_ps", "serialisation_ps", "check_ps", "scheduler_ps",
					   "dram_ps"};

	for (unsigned int k = 0; k < KINDS; k++) {
		json_int_t total = 0;

		for (unsigned int i = 0; i < sizeof(part) / sizeof(part[0]); i++)
			total += sum_of(all, k, part[i]);
		cr_assert_eq(sum_of(all, k, "line_ps"), 0, "an idle fabric, but a %s waits", kind[k]);
		cr_assert_eq(total, sum_of(all, k, "sum_ps"));
		cr_assert_eq(total, ps(at(all, measured[k]), "min_ns"), "%s: %lld", kind[k],
			     (long long)total);
		cr_assert_eq(total, ps(at(all, measured[k]), "max_ns"), "%s: %lld", kind[k],
			     (long long)total);
		cr_assert_gt(count(at(all, measured[k]), "count"), 0);
	}
	cr_assert_eq(count(all, "result/stages/operations_with_gaps"), 0);
}

/** Adds to what a stage costs, everywhere that it is. */
static void raise_cost(struct mf_config *config, enum mf_stage stage, mf_time more)
{
	if (stage < MF_STAGE_PROPAGATION)
		config->tier->timing.cost[stage] += more;
	for (unsigned int i = 0; i < config->slots; i++) {
		if (stage == MF_STAGE_PROPAGATION)
			config->node[i].link.propagation += more;
		if (stage == MF_STAGE_DRAM && config->node[i].memory)
			config->node[i].memory_config.dram += more;
	}
}

static void raised(json_t *base, enum mf_stage stage, mf_time more)
{
	struct mf_config config;
	json_int_t seen = 0;
	json_t *all;

	parse(&config, "25G", "none", 64);
	raise_cost(&config, stage, more);
	all = run(&config);
	check_parts(all);
	for (unsigned int k = 0; k < KINDS; k++) {
		json_int_t n = occurrences(base, k, stage), step = n * (json_int_t)more;
		json_int_t fabric = stage == MF_STAGE_DRAM ? 0 : step;

		seen += n;
		cr_assert_eq(occurrences(all, k, stage), n);
		cr_assert_eq(sum_of(all, k, "sum_ps") - sum_of(base, k, "sum_ps"), step,
			     "%s of a %s, %lld times", mf_stage_name(stage), kind[k], (long long)n);
		cr_assert_eq(sum_of(all, k, "fabric_ps") - sum_of(base, k, "fabric_ps"), fabric);
	}
	cr_assert_gt(seen, 0, "%s: never", mf_stage_name(stage));
	json_decref(all);
	mf_config_free(&config);
}

/** Every stage, one cycle more: the total rises by a cycle for each time that it occurs. */
Test(stages, each_counts)
{
	struct mf_config config;
	json_t *base;

	parse(&config, "25G", "none", 64);
	base = run(&config);
	check_parts(base);
	for (enum mf_stage s = 0; s <= MF_STAGE_PROPAGATION; s++)
		if (s != MF_STAGE_MAC && s != MF_STAGE_PROTOCOL && s != MF_STAGE_L2) /* not EDM's */
			raised(base, s, config.tier->cycle);
	raised(base, MF_STAGE_DRAM, config.tier->cycle);
	json_decref(base);
	mf_config_free(&config);
}

/** Nothing of Table 1 hides in another row: sizes, rates, and a scheduler that takes time. */
Test(stages, parts_add_up)
{
	static const char *const rate[] = {"10G", "25G", "100G"};
	static const unsigned int size[] = {1, 8, 64, 256};

	for (unsigned int i = 0; i < 2 * sizeof(rate) / sizeof(rate[0]); i++)
		for (unsigned int s = 0; s < sizeof(size) / sizeof(size[0]); s++) {
			struct mf_config config;
			json_t *all;

			parse(&config, rate[i / 2], i % 2 ? "asic" : "none", size[s]);
			all = run(&config);
			check_parts(all);
			for (unsigned int k = 0; k < KINDS; k++) {
				unsigned int octets = k == ATOMIC ? 8 : size[s];

				cr_assert_eq(sum_of(all, k, "serialisation_ps"),
					     (json_int_t)((octets + 7) / 8 * config.node[0].link.period));
				cr_assert_eq(sum_of(all, k, "scheduler_ps") > 0, i % 2);
			}
			json_decref(all);
			mf_config_free(&config);
		}
}

/** What 3.2.1 gives for stages of which only the parts are written down, in cycles of 2.56 ns and accesses.
 */
Test(stages, acknowledgements_and_atomics)
{
	struct mf_config config;
	mf_time cycle, dram;
	json_t *all;

	parse(&config, "25G", "none", 64);
	cycle = config.tier->cycle;
	dram = config.node[1].memory_config.dram;
	all = run(&config);
	/* The block crosses to the TX clock domain (4) and is made (1); the switch identifies (1) and
	 * forwards it (4); it is parsed (1). Of the way each crossing of the PCS takes 2, and the rest 48 ns
	 * a link. */
	cr_assert_eq(sum_of(all, WRITE_ACK, "sum_ps") - sum_of(all, WRITE, "sum_ps"),
		     (json_int_t)(11 * cycle + 4 * 2 * cycle + 2 * MF_NS(48)));
	/* The value is read, and the new one written; a request of two more blocks, a response of seven less.
	 */
	cr_assert_eq(occurrences(all, ATOMIC, MF_STAGE_DRAM), 2);
	cr_assert_eq(sum_of(all, ATOMIC, "dram_ps"), (json_int_t)(2 * dram));
	cr_assert_eq(sum_of(all, ATOMIC, "sum_ps") - sum_of(all, READ, "sum_ps"),
		     (json_int_t)dram + (2 * 2 - 7) * (json_int_t)config.node[0].link.period);
	json_decref(all);
	mf_config_free(&config);
}
