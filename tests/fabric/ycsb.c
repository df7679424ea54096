/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores in whole fabrics: YCSB's workloads, what is refused, and what their load is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "run/mf_fabric.h"
#include "whole.h"
#include "workload/mf_workload.h"

#define HEAD                                                                                     \
	"{\"seed\":3,\"link\":{\"rate\":\"100G\"},\"clock\":{\"virtual\":{\"warmup\":\"5us\","   \
	"\"duration\":\"60us\"}},\"nodes\":[{\"name\":\"cn\",\"role\":\"compute\",\"count\":3}," \
	"{\"name\":\"mn\",\"role\":\"memory\",\"count\":2}%s],\"workload\":[{\"ycsb\":\"%s\"%s}]}"

static const char *fabric(const char *nodes, const char *name, const char *keys)
{
	static char text[2048];

	snprintf(text, sizeof(text), HEAD, nodes, name, keys);
	return text;
}

static double query(const json_t *r, const char *name, const char *what)
{
	char path[128];

	snprintf(path, sizeof(path), "operations.queries.%s%s%s", name, *what != '\0' ? "." : "", what);
	return whole_number(r, path);
}

/* Each by spans and block by block; all that is read is what somebody wrote. */
Test(ycsb, workloads)
{
	static const struct {
		const char *name, *kinds[2];
		double share; /**< of the first */
	} of[] = {{"A", {"READ", "UPDATE"}, 0.5},  {"B", {"READ", "UPDATE"}, 0.95},
		  {"C", {"READ", NULL}, 1},        {"D", {"READ", "INSERT"}, 0.95},
		  {"E", {"SCAN", "INSERT"}, 0.95}, {"F", {"READ", "READMODIFYWRITE"}, 0.5}};

	for (size_t i = 0; i < 6; i++) {
		const char *keys = i % 2 ? ",\"place\":\"range\",\"records\":500"
					 : ",\"records\":2000,\"acknowledge\":true";
		char name[64];
		double all, first;
		json_t *r;

		if (of[i].name[0] == 'E')
			keys = ",\"place\":\"range\",\"records\":500,\"scan\":9";
		r = whole_check(fabric("", of[i].name, keys), true);
		all = query(r, "in_all", "completed");
		snprintf(name, sizeof(name), "kinds.%s", of[i].kinds[0]);
		first = query(r, name, "completed");
		cr_assert_gt(all, 100);
		cr_assert_float_eq(first / all, of[i].share, 0.08, "%s: %g of %g", of[i].name, first, all);
		if (of[i].kinds[1] != NULL) {
			snprintf(name, sizeof(name), "kinds.%s", of[i].kinds[1]);
			cr_assert_eq(first + query(r, name, "completed"), all);
		}
		cr_assert_gt(whole_number(r, "operations.verified"), 100);
		cr_assert_eq(query(r, "in_all", "local"), 0);
		json_decref(r);
	}
}

/* Nodes that are both: what lies at home takes the time of the memory there, and no messages. */
Test(ycsb, own_records)
{
	json_t *r = whole_check(fabric(",{\"name\":\"n\",\"role\":\"both\"}", "B",
				       ",\"nodes\":\"n\",\"depth\":4,\"local_time\":\"50ns\""),
				true);

	cr_assert_float_eq(query(r, "in_all", "local") / query(r, "in_all", "completed"), 0.333, 0.06);
	cr_assert_eq(query(r, "in_all", "latency.min_ns"), 50);
	json_decref(r);
}

/* In chunks of 64 an update of 100 octets is in parts: who reads it meanwhile is told so, and no more. */
Test(ycsb, torn_values)
{
	char text[1024];
	json_t *r;

	for (unsigned int chunk = 64; chunk <= 128; chunk += 64) {
		snprintf(text, sizeof(text),
			 "{\"link\":{\"rate\":\"100G\"},\"clock\":{\"virtual\":{\"duration\":\"200us\"}},"
			 "\"scheduler\":{\"chunk\":%u},\"nodes\":[{\"name\":\"cn\",\"role\":\"compute\","
			 "\"count\":6},{\"name\":\"mn\",\"role\":\"memory\"}],\"workload\":[{\"ycsb\":\"A\","
			 "\"records\":1,\"fields\":1,\"depth\":8}]}",
			 chunk);
		r = whole_check(text, false);
		cr_assert_eq(query(r, "torn_fields", "") > 0, chunk == 64);
		json_decref(r);
	}
}

/* Block by block and from its own effective configuration the same. */
Test(ycsb, effective_configuration)
{
	static const char *const keys[] = {
		",\"loop\":\"open\",\"load\":0.6,\"records\":100,\"keys\":\"latest\",\"write_all\":true",
		",\"mix\":{\"read\":1,\"scan\":1,\"read_modify_write\":2},\"scan\":7,"
		"\"scan_lengths\":\"zipfian\","
		"\"keys\":\"uniform\",\"fields\":3,\"field\":24,\"read_all\":false,\"local\":0.25",
		",\"delay\":\"1us\",\"operations\":50"};

	for (size_t i = 0; i < 3; i++) {
		const char *text = fabric("", "D", keys[i]);
		struct mf_config config;
		json_t *a, *b, *json;
		char err[256], *again;

		cr_assert_eq(mf_config_parse(text, strlen(text), "f", &config, err, sizeof(err)), 0, "%s",
			     err);
		json = mf_config_to_json(&config);
		again = json_dumps(json, JSON_COMPACT);
		a = whole_check(text, false);
		b = whole_check(again, false);
		cr_assert(json_equal(a, b), "%s", again);
		cr_assert(json_equal(json_object_get(a, "config"), json));
		json_decref(a);
		json_decref(b);
		json_decref(json);
		free(again);
		mf_config_free(&config);
	}
}

/* The load that is asked for is what the links carry, whatever queries it is made of. */
Test(ycsb, load)
{
	static const char *const names[] = {"A", "C", "E", "F"};

	for (size_t i = 0; i < 4; i++) {
		char keys[256];
		double up, down;
		json_t *r;

		snprintf(keys, sizeof(keys),
			 ",\"loop\":\"open\",\"load\":0.5,\"arrival\":\"constant\",\"keys\":\"uniform\","
			 "\"local\":%g,"
			 "\"records\":1000%s",
			 i == 1 ? 0.5 : 0, i == 2 ? ",\"scan\":10" : "");
		r = whole_check(fabric("", names[i], keys), false);
		up = whole_number(r, "links.to_switch.utilisation_busiest");
		down = whole_number(r, "links.from_switch.utilisation_busiest");
		cr_assert_float_eq(up > down ? up : down, 0.5, 0.08, "%s: %g %g", names[i], up, down);
		json_decref(r);
	}
}

static const struct {
	const char *name, *keys, *says;
} bad[] = {
	{"G", "", "ycsb: 'G' is none of: A, B, C, D, E, F, trace"},
	{"A", ",\"size\":64", "size: has no effect"},
	{"A", ",\"span\":6400", "span: has no effect"},
	{"A", ",\"records\":0", "records: 0 is out of range"},
	{"A", ",\"field\":23", "field: 23 is out of range"},
	{"A", ",\"scan\":5", "scan: has no effect: there are no scans in the mix"},
	{"E", ",\"records\":99", "scan: 100 is more than there are records, 99"},
	{"D", ",\"inserts\":0", "inserts: 0 is no room for what mix inserts"},
	{"A", ",\"mix\":{\"write\":1}", "mix.write: unknown key"},
	{"A", ",\"mix\":{\"read\":0}", "mix: has no weight above 0"},
	{"A", ",\"local\":1.5", "local: 1.5 is out of range"},
	{"A", ",\"keys\":\"uniform\",\"theta\":0.5", "theta: has no effect"},
	{"A", ",\"records\":1000000", "records: 3 clients need memory up to"},
	{"A", ",\"depth\":65536,\"field\":65536",
	 "depth: 65536 queries of up to 1 reads of up to 655360 octets"},
	{"E", ",\"fields\":1024,\"field\":65536,\"records\":100", "scan: 3355443200 octets in one read"},
	{"A", ",\"trace\":\"x\"", "trace: has no effect: ycsb is not"},
	{"trace", "", "trace: is missing"},
	{"trace", ",\"trace\":\"x\",\"mix\":{\"read\":1}", "mix: has no effect"},
	{"A", ",\"loop\":\"open\"", "loop: an open loop needs rate or load"},
};

Test(ycsb, refused)
{
	static const char head[] = "f:1: workload[0].";
	struct mf_config config;
	char err[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *text = fabric("", bad[i].name, bad[i].keys);

		cr_expect_eq(mf_config_parse(text, strlen(text), "f", &config, err, sizeof(err)), -EINVAL,
			     "%s", bad[i].keys);
		cr_expect_eq(strncmp(err, head, strlen(head)), 0, "%s", err);
		cr_expect_eq(strncmp(err + strlen(head), bad[i].says, strlen(bad[i].says)), 0,
			     "says: %s\nnot:  %s", err, bad[i].says);
	}
}

/* Keys of a file, in turn to the clients. */
Test(ycsb, trace_of_keys)
{
	char path[] = "/tmp/memfab-test-ycsb-XXXXXX", keys[256];
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");
	json_t *r;

	for (int i = 0; i < 1000; i++)
		fprintf(file, "%d,%s,user%d\n", i,
			mf_query_kind_name((enum mf_query_kind)(i % MF_QUERY_KINDS)), i * 7919);
	fclose(file);
	snprintf(keys, sizeof(keys), ",\"trace\":\"%s\",\"records\":300,\"scan\":9", path);
	r = whole_check(fabric("", "trace", keys), true);
	unlink(path);
	cr_assert_eq(query(r, "in_all", "begun") > 500, true);
	cr_assert_eq(whole_number(r, "operations.mismatches"), 0);
	json_decref(r);
}
