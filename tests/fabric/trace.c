/* SPDX-License-Identifier: BSD-3-Clause */
/* Workloads that are traces: what is refused, what they do, and that they are what their clients would do. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/mf_rng.h"
#include "fabric/mf_offer.h"
#include "whole.h"

#define NODES                                                                                    \
	"{\"name\":\"cn\",\"role\":\"compute\"},{\"name\":\"n\",\"role\":\"both\",\"count\":2}," \
	"{\"name\":\"mn\",\"role\":\"memory\"}"

/** A file that is there until the test ends. */
static void write_file(char *path, const char *text)
{
	FILE *file;
	int fd = mkstemp(path);

	cr_assert(fd >= 0);
	file = fdopen(fd, "w");
	cr_assert(fputs(text, file) >= 0 && fclose(file) == 0);
}

#define TEMPLATE "/tmp/memfab-test-traces-XXXXXX"

/** Reads a fabric with this trace and these keys more. @return the message, or "" */
static char *read_fabric(const char *trace, const char *keys, struct mf_config *config)
{
	static char err[1024];
	char path[] = TEMPLATE, text[1024], *says = err;

	write_file(path, trace);
	snprintf(text, sizeof(text), "{\"nodes\":[" NODES "],\"workload\":[{\"trace\":\"%s\"%s}]}", path,
		 keys);
	err[0] = '\0';
	if (mf_config_parse(text, strlen(text), "fabric", config, err, sizeof(err)) == 0)
		cr_assert_str_eq(err, "");
	unlink(path);
	if (strncmp(err, path, strlen(path)) == 0)
		says += strlen(path);
	return says;
}

#define ADDR "start_ps,kind,src,dst,octets,request_octets,addr\n"

static const struct {
	const char *trace, *keys, *says;
} bad[] = {
	{"0,1,0,1,16,64,0\n1,1,0,4,16,64,0\n", "", ":2: there is no node 4"},
	{"0,1,0,1,16,64,0\n1,1,512,1,16,64,0\n", "", ":2: there is no node 512"},
	{"0,1,3,1,16,64,0\n", "", ":1: node 3, 'mn', is not a compute node"},
	{"0,1,1,0,16,64,0\n", "", ":1: node 0, 'cn', is not a memory node"},
	{"0,1,1,2,16,64,0\n", ",\"nodes\":\"cn\"",
	 ":1: node 1, 'n0', is not one of the workload's compute nodes"},
	{"0,1,1,2,16,64,0\n", ",\"targets\":\"mn\"",
	 ":1: node 2, 'n1', is not one of the workload's memory nodes"},
	{"0,1,1,2,16,33554433,0\n", "", ":1: size 33554433 is more than 33554432"},
	{"0,1,1,2,16,64,5\n", ",\"time_zero\":\"4ns\"", ":1: 3200 ps is before time_zero"},
	{"0,1,1,2,16,64,14411518807585587\n", ",\"time_scale\":2", ":1: 9223372036854775680 ps is too late"},
	{"0,READ,5\n", "", ":1: a trace of keys needs a store"},
	{"", "", ":1: the file is empty"},
	{"0,1,1,2,16,64,0\n", ",\"format\":\"hpcc\"", ":1: number of flows"},
	{"0,1,1,2,16,64,0\n", ",\"format\":\"csv\"", "fabric:1: workload[0].format: 'csv' is none of"},
	{"0,1,1,2,16,64,0\n", ",\"mix\":{\"read\":1}", "fabric:1: workload[0].mix: has no effect"},
	{"0,1,1,2,16,64,0\n", ",\"load\":0.5", "fabric:1: workload[0].load: has no effect"},
	{"0,1,1,2,16,64,0\n", ",\"time_scale\":0", "fabric:1: workload[0].time_scale: 0 is out of range"},
	{"0,1,1,2,16,64,0\n", ",\"digest\":\"12\"", "fabric:1: workload[0].digest: must be a string of 16"},
	{"0,1,1,2,16,64,0\n", ",\"digest\":\"0123456789abcdef\"",
	 "fabric:1: workload[0].digest: the trace is another one: "},
	{"0,1,1,2,16,6400,0\n", ",\"span\":4096", "fabric:1: workload[0].span: 4096 octets do not hold"},
	{ADDR "0,read,0,3,64,0,67108801\n", "",
	 ":2: 64 octets at address 67108801 are not within the memory of node 3, 'mn', which has 67108864"},
	{ADDR "0,read,0,3,64,0,0\n1,write,0,3,1,0,67108864\n", "", ":3: 1 octets at address 67108864"},
	{ADDR "0,fadd,0,3,8,0,4\n", "", ":2: address 4 of an atomic operation is no multiple of 8"},
	{ADDR "0,read,0,3,64,0\n", "", ":2: 6 columns, and the first line has 7"},
	{ADDR "0,read,0,3,64,0,0\n", ",\"span\":\"1MiB\"",
	 "fabric:1: workload[0].span: has no effect: the trace says where"},
	{ADDR "0,read,0,3,64,0,0\n", ",\"address\":\"zipf\"",
	 "fabric:1: workload[0].address: has no effect: the trace says where"},
	{ADDR "0,write,0,3,64,0,0\n1,read,1,3,64,0,0\n", "",
	 "fabric:1: workload[0].verify: must be false: several nodes use 'mn' by addresses of the trace"},
};

Test(traces, refused)
{
	struct mf_config config;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *says = read_fabric(bad[i].trace, bad[i].keys, &config);

		cr_expect_eq(strncmp(says, bad[i].says, strlen(bad[i].says)), 0, "says: %s\nnot:  %s", says,
			     bad[i].says);
	}
}

Test(traces, no_trace)
{
	static const char text[] = "{\"nodes\":[" NODES "],\"workload\":[{\"time_scale\":2}]}",
			  none[] = "{\"nodes\":[" NODES "],\"workload\":[{\"trace\":\"/nowhere/x\"}]}",
			  number[] = "{\"nodes\":[" NODES "],\"workload\":[{\"trace\":5}]}";
	struct mf_config config;
	char err[256];

	cr_assert_neq(mf_config_parse(text, strlen(text), "f", &config, err, sizeof(err)), 0);
	cr_assert_str_eq(err, "f:1: workload[0].time_scale: has no effect: there is no trace");
	cr_assert_neq(mf_config_parse(none, strlen(none), "f", &config, err, sizeof(err)), 0);
	cr_assert_str_eq(err, "/nowhere/x: No such file or directory");
	cr_assert_neq(mf_config_parse(number, strlen(number), "f", &config, err, sizeof(err)), 0);
	cr_assert_str_eq(err, "f:1: workload[0].trace: must be the path of a file");
}

/* Messages go to their clients in order; times, clocks and span are those of the trace. */
Test(traces, what_is_read)
{
	struct mf_config c;
	const char *says = read_fabric("0,1,0,1,16,64,1\n1,3,2,1,5000001,-1,5\n2,3,0,3,100,-1,5\n", "", &c);
	const struct mf_config_trace *t;

	cr_assert_str_eq(says, "");
	t = &c.workload[0].trace;
	cr_assert_eq(t->messages, 3);
	cr_assert_eq(t->first[1] - t->first[0], 2);
	cr_assert_eq(t->first[2] - t->first[1], 0);
	cr_assert_eq(t->first[3] - t->first[2], 1);
	cr_assert(t->message[0].start == 640 && t->message[0].node == 1 &&
		  t->message[0].kind == MF_CLIENT_READ);
	cr_assert(t->message[1].start == 3200 && t->message[1].node == 3 && t->message[1].octets == 100);
	cr_assert(t->message[2].node == 1 && t->message[2].octets == 5000001);
	cr_assert_eq(c.clock[MF_CLOCK_VIRTUAL].warmup, 0);
	cr_assert_eq(c.clock[MF_CLOCK_VIRTUAL].duration, 3201 + c.clock[MF_CLOCK_VIRTUAL].drain);
	cr_assert_eq(c.workload[0].span, 5000001 / 64 * 64 + 64);
	mf_config_free(&c);
	says = read_fabric("0,1,0,1,16,64,100\n1,3,2,1,64,-1,300\n",
			   ",\"time_zero\":\"64ns\",\"time_scale\":2.5", &c);
	cr_assert_str_eq(says, "");
	cr_assert_eq(c.workload[0].trace.message[0].start, 0);
	cr_assert_eq(c.workload[0].trace.message[1].start, 320000);
	mf_config_free(&c);
}

/* Where the trace says it, in the order of the clients; all of the memory is theirs. */
Test(traces, addresses_that_are_read)
{
	static const char trace[] =
		ADDR "0,read,2,3,64,0,1000\n5,read,0,3,10,16,67108854\n6,read,2,1,64,0,7\n";
	struct mf_config c;
	const char *says = read_fabric(trace, "", &c);
	const struct mf_config_trace *t;

	cr_assert_str_eq(says, "");
	t = &c.workload[0].trace;
	cr_assert_eq(t->messages, 3);
	cr_assert_eq(t->addr[0], 67108854);
	cr_assert_eq(t->addr[1], 1000);
	cr_assert_eq(t->addr[2], 7);
	cr_assert_eq(c.workload[0].base, 0);
	cr_assert_eq(c.workload[0].span, 67108864);
	mf_config_free(&c);
	/* Nobody writes: all of them know what is there. Or nothing is verified. */
	says = read_fabric(ADDR "0,read,0,3,64,0,0\n0,read,1,3,64,0,0\n", "", &c);
	cr_assert_str_eq(says, "");
	mf_config_free(&c);
	says = read_fabric(ADDR "0,read,0,3,64,0,0\n0,write,1,3,64,0,0\n", ",\"verify\":false", &c);
	cr_assert_str_eq(says, "");
	mf_config_free(&c);
}

/** Another workload at the same memory has a region there. */
Test(traces, addresses_want_the_memory_alone)
{
	char path[] = TEMPLATE, text[1024], err[256] = "";
	struct mf_config c;

	write_file(path, ADDR "0,read,0,3,64,0,0\n");
	snprintf(text, sizeof(text),
		 "{\"nodes\":[" NODES
		 "],\"workload\":[{\"trace\":\"%s\",\"nodes\":\"cn\",\"targets\":\"mn\"},"
		 "{\"nodes\":\"n\",\"targets\":\"mn\"}]}",
		 path);
	cr_assert_neq(mf_config_parse(text, strlen(text), "f", &c, err, sizeof(err)), 0);
	cr_assert_str_eq(
		err, "f:1: workload[1].targets: a trace with addresses has all of the memory of 'mn', and "
		     "workload[0] has it, too");
	unlink(path);
}

/** Random operations of two nodes, each at a memory of its own, in few lines and at any octet. */
static void random_addresses(const char *path, unsigned int round)
{
	static const char *const kinds[] = {"read", "read", "read", "write_ack", "write_ack", "fadd", "cas"};
	FILE *file = fopen(path, "w");
	struct mf_rng r;

	mf_rng_init(&r, round, "addresses", 0);
	fputs(ADDR, file);
	for (unsigned int i = 0; i < 2000; i++) {
		const char *kind = kinds[mf_rng_below(&r, 7)];
		bool atomic = kind[0] == 'f' || kind[0] == 'c';
		unsigned int src = (unsigned int)mf_rng_below(&r, 2);
		unsigned int octets = mf_rng_below(&r, 3) == 0
					      ? 64
					      : 1 + (unsigned int)mf_rng_below(&r, i % 50 == 0 ? 5000 : 300);
		unsigned int addr = (unsigned int)mf_rng_below(&r, 3000);

		fprintf(file, "%u,%s,%u,%u,%u,0,%u\n", i * 500000, kind, src, src + 2, atomic ? 8 : octets,
			atomic ? addr & ~7U : addr);
	}
	fclose(file);
}

/** With each order of operations that a stack promises. Short spans and long ones of the same trace agree. */
Test(traces, addresses_are_verified)
{
	static const char *const stacks[] = {"", "\"stack\":\"rocev2\",", "\"stack\":\"dctcp\",",
					     "\"scheduler\":{\"order\":\"direction\"},",
					     "\"stack\":\"cxl\","};
	char path[] = TEMPLATE, text[1024];

	write_file(path, "");
	for (unsigned int i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		json_t *r;

		random_addresses(path, i);
		snprintf(text, sizeof(text),
			 "{%s\"nodes\":[{\"name\":\"c\",\"role\":\"compute\",\"count\":2},"
			 "{\"name\":\"m\",\"role\":\"memory\",\"count\":2}],\"memory\":{\"size\":\"8KiB\"},"
			 "\"workload\":[{\"trace\":\"%s\",\"depth\":8}]}",
			 stacks[i], path);
		r = whole_same(text);
		cr_expect_eq(whole_number(r, "operations.completed_all"), 2000, "%s", stacks[i]);
		cr_expect_eq(whole_number(r, "operations.mismatches"), 0, "%s", stacks[i]);
		cr_expect_gt(whole_number(r, "operations.verified"), 300, "%s", stacks[i]);
		json_decref(r);
	}
	unlink(path);
}

/** The messages of a fabric, in our own format. @return how many */
static unsigned int write_messages(const char *fabric, const char *path, bool addr)
{
	struct mf_trace_out out;
	struct mf_offer *m;
	struct mf_trace_row row;
	struct mf_config config;
	char err[256];
	FILE *file = fopen(path, "w");

	cr_assert_eq(mf_config_parse(fabric, strlen(fabric), "f", &config, err, sizeof(err)), 0, "%s", err);
	m = mf_offer_new(&config, MF_CLOCK_VIRTUAL, false, err, sizeof(err));
	cr_assert_not_null(m, "%s", err);
	mf_trace_begin(&out, file, MF_TRACE_MEMFAB, 0, addr);
	while (mf_offer_next(m, &row))
		mf_trace_put(&out, &row);
	cr_assert_eq(fclose(file), 0);
	mf_offer_free(m);
	mf_config_free(&config);
	return (unsigned int)out.rows;
}

/** What is asked is asked there: the same operations as they come out of the fabric's clients again. */
Test(traces, addresses_there_and_back)
{
	char path[] = TEMPLATE, again[] = TEMPLATE, text[1024], line[2][256];
	FILE *a, *b;

	write_file(path, "");
	write_file(again, "");
	random_addresses(path, 9);
	snprintf(text, sizeof(text),
		 "{\"nodes\":[{\"name\":\"c\",\"role\":\"compute\",\"count\":2},"
		 "{\"name\":\"m\",\"role\":\"memory\",\"count\":2}],\"workload\":[{\"trace\":\"%s\"}]}",
		 path);
	cr_assert_eq(write_messages(text, again, true), 2000);
	a = fopen(path, "r");
	b = fopen(again, "r");
	while (fgets(line[0], sizeof(line[0]), a) != NULL) {
		unsigned long long start[2], octets[2], addr[2];
		unsigned int src[2], dst[2];
		char kind[2][16];

		cr_assert_not_null(fgets(line[1], sizeof(line[1]), b));
		if (line[0][0] == 's')
			continue;
		for (int k = 0; k < 2; k++)
			cr_assert_eq(sscanf(line[k], "%llu,%15[a-z_],%u,%u,%llu,%*u,%llu", &start[k], kind[k],
					    &src[k], &dst[k], &octets[k], &addr[k]),
				     6, "%s", line[k]);
		cr_assert(start[0] == start[1] && strcmp(kind[0], kind[1]) == 0 && src[0] == src[1] &&
				  dst[0] == dst[1] && octets[0] == octets[1] && addr[0] == addr[1],
			  "%s%s", line[0], line[1]);
	}
	cr_assert_null(fgets(line[1], sizeof(line[1]), b));
	fclose(a);
	fclose(b);
	unlink(path);
	unlink(again);
}

#define FABRIC(workload)                                                          \
	"{\"seed\":5,\"nodes\":[{\"name\":\"n\",\"role\":\"both\",\"count\":6}]," \
	"\"link\":{\"rate\":\"100G\"},"                                           \
	"\"clock\":{\"virtual\":{\"warmup\":\"2us\",\"duration\":\"40us\"}},\"workload\":[" workload "]}"

/* The parts of a result that no address has an influence on. */
static void expect_same(const json_t *a, const json_t *b)
{
	static const char *const parts[] = {"operations", "delivery",  "waits",
					    "links",      "scheduler", "switch"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		cr_assert(json_equal(json_object_get(a, parts[i]), json_object_get(b, parts[i])),
			  "%s:\n%s\n%s", parts[i], json_dumps(json_object_get(a, parts[i]), JSON_COMPACT),
			  json_dumps(json_object_get(b, parts[i]), JSON_COMPACT));
}

/** Runs a workload, and the trace of it. */
static void compare(const char *fabric)
{
	char path[] = TEMPLATE, text[1024];
	json_t *drawn, *given;
	unsigned int rows;

	write_file(path, "");
	rows = write_messages(fabric, path, false);
	snprintf(text, sizeof(text), FABRIC("{\"trace\":\"%s\",\"depth\":64,\"span\":\"2MiB\"}"), path);
	drawn = whole_check(fabric, false);
	given = whole_check(text, false);
	unlink(path);
	cr_assert_gt(rows, 20);
	cr_assert_eq(whole_number(given, "operations.begun_all"), rows);
	expect_same(drawn, given);
	json_decref(drawn);
	json_decref(given);
}

Test(traces, of_a_workload_are_the_workload)
{
	compare(FABRIC("{\"mix\":{\"read\":2,\"write\":1,\"fadd\":1},\"loop\":\"open\",\"load\":0.7,"
		       "\"depth\":64,\"span\":\"2MiB\"}"));
	compare(FABRIC("{\"mix\":{\"read\":1,\"write_ack\":1},\"loop\":\"open\",\"load\":0.9,\"burst\":3,"
		       "\"arrival\":\"constant\",\"depth\":64,\"span\":\"2MiB\",\"size\":{\"dist\":\"list\","
		       "\"values\":[8,100,3000]}}"));
	compare(FABRIC("{\"mix\":{\"read\":1,\"write\":1},\"loop\":\"open\",\"load\":2,\"depth\":64,"
		       "\"span\":\"2MiB\",\"size\":{\"dist\":\"app\",\"name\":\"spark\"}}"));
}

/* Block by block the same; and what is printed of it runs as it does. */
Test(traces, effective_configuration)
{
	char path[] = TEMPLATE, text[1024], err[256], *again;
	struct mf_config config;
	json_t *json, *a, *b;

	write_file(path, "");
	write_messages(FABRIC("{\"mix\":{\"read\":1,\"write\":1},\"loop\":\"open\",\"load\":0.8}"), path,
		       false);
	snprintf(text, sizeof(text), FABRIC("{\"trace\":\"%s\",\"address\":\"zipf\",\"time_scale\":0.9}"),
		 path);
	cr_assert_eq(mf_config_parse(text, strlen(text), "f", &config, err, sizeof(err)), 0, "%s", err);
	json = mf_config_to_json(&config);
	again = json_dumps(json, JSON_COMPACT);
	a = whole_run(text, true);
	b = whole_run(again, false);
	unlink(path);
	cr_assert(json_equal(json_object_get(b, "config"), json));
	expect_same(a, b);
	json_decref(json);
	json_decref(a);
	json_decref(b);
	free(again);
	mf_config_free(&config);
}
