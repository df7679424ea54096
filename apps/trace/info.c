/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in a trace. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "base/mf_hist.h"
#include "base/mf_unit.h"
#include "output.h"
#include "program.h"
#include "trace.h"

#define NODES (UINT16_MAX + 1)
#define BLOCK_OCTETS 8
#define OCTETS_MAX (UINT64_C(1) << 62) /* in all */

struct sums {
	bool keyed;
	enum mf_trace_format format;
	uint64_t messages, octets;
	uint64_t kind[MF_CLIENT_KINDS], kind_octets[MF_CLIENT_KINDS]; /**< or by enum mf_query_kind */
	struct mf_hist size;
	mf_time first, last;
	uint64_t key_max;
	uint64_t digest;
	bool has_addr; /**< where all messages are: */
	uint64_t addr_first, addr_end;
	uint64_t asks[NODES], out[NODES], in[NODES]; /**< messages, payload octets */
};
static_assert((int)MF_QUERY_KINDS <= (int)MF_CLIENT_KINDS, "their counters are the same");

/** Which way the payload goes; the old value of an atomic comes back. */
static void add_payload(struct sums *s, const struct mf_trace_row *row)
{
	bool to_memory = row->kind == MF_CLIENT_WRITE || row->kind == MF_CLIENT_WRITE_ACK;

	s->out[to_memory ? row->src : row->dst] += row->octets;
	s->in[to_memory ? row->dst : row->src] += row->octets;
	s->asks[row->src]++;
}

static void add(struct sums *s, const struct mf_trace_row *row)
{
	if (s->messages++ == 0)
		s->first = row->start;
	s->last = row->start;
	s->kind[row->kind]++;
	s->key_max = row->key > s->key_max ? row->key : s->key_max;
	if (s->keyed)
		return;
	s->octets += row->octets;
	s->kind_octets[row->kind] += row->octets;
	mf_hist_add(&s->size, row->octets);
	add_payload(s, row);
	if (!row->has_addr)
		return;
	if (!s->has_addr || row->addr < s->addr_first)
		s->addr_first = row->addr;
	s->has_addr = true;
	s->addr_end = row->addr + row->octets > s->addr_end ? row->addr + row->octets : s->addr_end;
}

static const char *kind_name(const struct sums *s, unsigned int k)
{
	return s->keyed ? mf_query_kind_name((enum mf_query_kind)k)
			: mf_client_kind_name((enum mf_client_kind)k);
}

static json_t *kinds_json(const struct sums *s)
{
	json_t *kinds = json_object();

	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++) {
		json_t *one;

		if (s->kind[k] == 0)
			continue;
		one = json_pack("{s:I}", "messages", (json_int_t)s->kind[k]);
		if (!s->keyed)
			json_object_set_new(one, "octets", json_integer((json_int_t)s->kind_octets[k]));
		json_object_set_new(kinds, kind_name(s, k), one);
	}
	return kinds;
}

static json_t *sizes_json(const struct sums *s)
{
	static const struct {
		const char *name;
		uint32_t ppm;
	} p[] = {{"min", 0},      {"p10", 100000},   {"p50", 500000}, {"p90", 900000},
		 {"p99", 990000}, {"p99.9", 999000}, {"max", 1000000}};
	json_t *o = json_object();

	json_object_set_new(o, "mean", json_real(mf_hist_mean(&s->size)));
	for (size_t i = 0; i < sizeof(p) / sizeof(p[0]); i++)
		json_object_set_new(o, p[i].name,
				    json_integer((json_int_t)mf_hist_percentile(&s->size, p[i].ppm)));
	return o;
}

/** Share of a link's payload rate; the trace lasts until the start of its last message. */
static double share(const struct sums *s, uint64_t octets, uint32_t block)
{
	mf_time span = s->last - s->first;

	return span > 0 ? (double)octets / BLOCK_OCTETS * block / (double)span : 0;
}

static json_t *load_json(const struct sums *s, const uint64_t *octets, uint32_t block)
{
	uint64_t most = 0, sum = 0;
	unsigned int nodes = 0, busiest = 0;

	for (unsigned int i = 0; i < NODES; i++) {
		nodes += s->out[i] + s->in[i] > 0;
		sum += octets[i];
		if (octets[i] > most) {
			most = octets[i];
			busiest = i;
		}
	}
	return json_pack("{s:f, s:f, s:i}", "mean", nodes > 0 ? share(s, sum, block) / nodes : 0.0, "busiest",
			 share(s, most, block), "busiest_node", (int)busiest);
}

static void put_messages(json_t *o, const struct sums *s, const char *rate, uint32_t block)
{
	unsigned int nodes = 0, sources = 0, highest = 0;

	for (unsigned int i = 0; i < NODES; i++) {
		bool there = s->out[i] + s->in[i] > 0;

		nodes += there;
		sources += s->asks[i] > 0;
		highest = there ? i : highest;
	}
	json_object_set_new(o, "octets", json_integer((json_int_t)s->octets));
	json_object_set_new(o, "size", sizes_json(s));
	json_object_set_new(o, "first_ps", json_integer((json_int_t)s->first));
	json_object_set_new(o, "last_ps", json_integer((json_int_t)s->last));
	if (s->has_addr) {
		json_object_set_new(o, "address_first", json_integer((json_int_t)s->addr_first));
		json_object_set_new(o, "address_end", json_integer((json_int_t)s->addr_end));
	}
	json_object_set_new(o, "nodes", json_integer(nodes));
	json_object_set_new(o, "nodes_that_ask", json_integer(sources));
	json_object_set_new(o, "highest_node", json_integer(highest));
	json_object_set_new(o, "payload_load",
			    json_pack("{s:s, s:o, s:o}", "link", rate, "to_switch",
				      load_json(s, s->out, block), "from_switch",
				      load_json(s, s->in, block)));
}

static json_t *sums_json(const struct sums *s, const char *file, const char *rate, uint32_t block)
{
	char digest[17];
	json_t *o = json_object();

	snprintf(digest, sizeof(digest), "%016" PRIx64, s->digest);
	json_object_set_new(o, "file", json_string(file));
	json_object_set_new(o, "format", json_string(mf_trace_format_name(s->format)));
	json_object_set_new(o, "digest", json_string(digest));
	json_object_set_new(o, "messages", json_integer((json_int_t)s->messages));
	json_object_set_new(o, "kinds", kinds_json(s));
	if (s->keyed)
		json_object_set_new(o, "highest_key", json_integer((json_int_t)(s->key_max & INT64_MAX)));
	else
		put_messages(o, s, rate, block);
	return o;
}

static double real(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static void print_kinds(const struct sums *s)
{
	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++) {
		if (s->kind[k] == 0)
			continue;
		printf("  %-20s %" PRIu64 ", %.2f %%", kind_name(s, k), s->kind[k],
		       100.0 * (double)s->kind[k] / (double)s->messages);
		if (!s->keyed)
			printf(", of %" PRIu64 " octets", s->kind_octets[k]);
		printf("\n");
	}
}

static void print_load(const json_t *load, const char *key, const char *name)
{
	const json_t *o = json_object_get(load, key);

	printf("  %-20s %.2f %% in the mean, %.2f %% at node %lld\n", name, 100 * real(o, "mean"),
	       100 * real(o, "busiest"), (long long)json_integer_value(json_object_get(o, "busiest_node")));
}

static void print_messages(const struct sums *s, const json_t *o)
{
	const json_t *size = json_object_get(o, "size"), *load = json_object_get(o, "payload_load"), *v;
	char a[MF_UNIT_LEN], b[MF_UNIT_LEN];
	const char *key;

	printf("%-22s %" PRIu64 "\n", "octets", s->octets);
	printf("%-22s", "size, octets");
	json_object_foreach((json_t *)(uintptr_t)size, key, v)
		printf(" %s %.*f", key, json_is_real(v) ? 2 : 0, json_number_value(v));
	printf("\n%-22s from %s to %s\n", "start", mf_unit_put_time(a, s->first),
	       mf_unit_put_time(b, s->last));
	if (s->has_addr)
		printf("%-22s from %" PRIu64 ", to below %" PRIu64 "\n", "addresses", s->addr_first,
		       s->addr_end);
	printf("%-22s %.0f, of which %.0f ask; the highest is %.0f\n", "nodes", real(o, "nodes"),
	       real(o, "nodes_that_ask"), real(o, "highest_node"));
	printf("%-22s payload alone, of a link of %s, until the last message starts\n", "load",
	       json_string_value(json_object_get(load, "link")));
	print_load(load, "to_switch", "to the switch");
	print_load(load, "from_switch", "from the switch");
}

static void print(const struct sums *s, const json_t *o)
{
	printf("%-22s %s, %s\n", "trace", json_string_value(json_object_get(o, "file")),
	       mf_trace_format_name(s->format));
	printf("%-22s %" PRIu64 "\n", s->keyed ? "operations" : "messages", s->messages);
	print_kinds(s);
	if (s->keyed)
		printf("%-22s %" PRIu64 "\n", "highest key", s->key_max);
	else
		print_messages(s, o);
}

/** @return exit status */
static int read_all(const struct options *o, struct sums *s)
{
	struct mf_trace_row row;
	struct mf_trace *t;
	char err[ERR_LEN];
	int rc = mf_trace_open(&t, o->file, o->from, false, err, sizeof(err));

	if (rc != 0) {
		fprintf(stderr, "%s\n", err);
		return rc == -ENOMEM ? FAILED : USAGE;
	}
	s->format = mf_trace_format(t);
	s->keyed = mf_trace_keyed(s->format);
	while ((rc = mf_trace_next(t, &row)) > 0 && s->octets <= OCTETS_MAX)
		add(s, &row);
	if (rc > 0)
		rc = mf_trace_fail(t, "the sizes add up to more than %" PRIu64, OCTETS_MAX);
	if (rc < 0)
		fprintf(stderr, "%s\n", mf_trace_error(t));
	else
		s->digest = mf_trace_digest(t);
	if (rc == 0 && mf_trace_note(t) != NULL)
		fprintf(stderr, "%s\n", mf_trace_note(t));
	mf_trace_close(t);
	return rc < 0 ? USAGE : SOUND;
}

static int write_json(const struct options *o, const json_t *json)
{
	struct output file;
	int rc = output_open(&file, o->json), closed;

	if (rc != SOUND)
		return rc;
	rc = output_write_json(&file, json);
	closed = output_close(&file);
	return rc != SOUND ? rc : closed;
}

static int report(const struct options *o, const struct sums *s, uint32_t block)
{
	json_t *json = sums_json(s, o->file, o->line_rate, block);
	int rc = write_json(o, json);

	if (rc == SOUND) {
		print(s, json);
		rc = complain_of("standard output",
				 fflush(stdout) != 0 || ferror(stdout) ? output_error() : 0);
	}
	json_decref(json);
	return rc;
}

int info(const struct options *o)
{
	struct sums *s;
	uint32_t block;
	char err[ERR_LEN];
	int rc;

	if (mf_unit_rate(o->line_rate, &block) != 0) {
		argument_refuse(err, sizeof(err), "--link: '%s' is not a rate such as 100G", o->line_rate);
		return complain(USAGE, err);
	}
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return complain_of("the trace", -ENOMEM);
	rc = compare_files(o, NULL);
	if (rc == SOUND)
		rc = read_all(o, s);
	if (rc == SOUND)
		rc = report(o, s, block);
	free(s);
	return rc;
}
