/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fabric files of several switches: an input is a list of choices, of which a file with "topology" or
 * "switches", "nodes" with "ends", "links", "racks" and "faults" is written. Most of it is right, so that
 * what is behind the first check is reached. A file is refused in one line that names a line of it and a key;
 * or what it means holds, is written and read again as the same, and its fabric is made, unless that is
 * refused.
 */
#include <ctype.h>
#include <jansson.h>

#include "config/mf_config.h"
#include "config/mf_config_query.h"
#include "input.h"
#include "run/mf_fabric.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NODES_MAX 64 /* of a fabric that is made */
#define ENTRIES_MAX 6
#define ODD 24 /* one choice in so many is something else */

/* ---- writing a file ---- */

struct file {
	struct input *in;
	FILE *out;
};

static unsigned int choose(struct file *f, unsigned int n)
{
	return (unsigned int)take(f->in, 1) % n;
}

/* Few names, so that many of them are there, and some twice. */
static void put_name(struct file *f)
{
	static const char *const names[] = {"a", "b", "tor", "leaf", "spine", "cn", "mn", "r", "q"};
	static const char *const odd[] = {"",       "*",  "scheduler", "sw0",   "r.tor",
					  "r0.tor", "q.", ".a",        "a.b.c", "r0.*"};

	if (choose(f, ODD) == 0)
		fputs(odd[choose(f, sizeof(odd) / sizeof(odd[0]))], f->out);
	else
		fputs(names[choose(f, sizeof(names) / sizeof(names[0]))], f->out);
}

/* A name as others use it: of one, of a rack's, of all racks'. */
static void put_reference(struct file *f)
{
	unsigned int kind = choose(f, 6);

	fputc('"', f->out);
	if (kind == 4 || kind == 5) {
		put_name(f);
		if (kind == 5)
			fprintf(f->out, "%u", choose(f, 4));
		fputc('.', f->out);
	}
	put_name(f);
	if (kind == 1)
		fprintf(f->out, "%u", choose(f, 4));
	fputc('"', f->out);
}

static void put_count(struct file *f)
{
	static const unsigned int odd[] = {0, 64, 65, 511, 512, 513, 70000};

	if (choose(f, ODD) == 0)
		fprintf(f->out, "%u", odd[choose(f, sizeof(odd) / sizeof(odd[0]))]);
	else
		fprintf(f->out, "%u", 1 + choose(f, 6));
}

/* Something that is of another type than it should be. */
static bool put_odd(struct file *f)
{
	static const char *const odd[] = {"null", "-1", "{}", "[]", "\"x\"", "[[\"a\"]]", "1e9", "true"};

	if (choose(f, 2 * ODD) != 0)
		return false;
	fputs(odd[choose(f, sizeof(odd) / sizeof(odd[0]))], f->out);
	return true;
}

static void put_key(struct file *f, const char *key)
{
	fprintf(f->out, ", \"%s\": ", key);
}

static void put_names(struct file *f, unsigned int n)
{
	fputc('[', f->out);
	for (unsigned int i = 0; i < n; i++) {
		fputs(i > 0 ? ", " : "", f->out);
		put_reference(f);
	}
	fputc(']', f->out);
}

static void put_link(struct file *f)
{
	static const char *const rate[] = {"10G", "25G", "100G", "800G", "3G", "7"};

	if (choose(f, 3) == 0) {
		put_key(f, "rate");
		fprintf(f->out, "\"%s\"", rate[choose(f, sizeof(rate) / sizeof(rate[0]))]);
	}
	if (choose(f, 6) == 0) {
		put_key(f, "propagation");
		fprintf(f->out, "\"%uns\"", choose(f, 200));
	}
	if (choose(f, 2 * ODD) == 0)
		fputs(", \"carried\": {\"when\": \"always\"}", f->out);
	if (choose(f, 2 * ODD) == 0)
		fputs(", \"disable\": {}", f->out);
}

static void put_named(struct file *f)
{
	fputs("{\"name\": \"", f->out);
	put_name(f);
	fputc('"', f->out);
	if (choose(f, 2) == 0) {
		put_key(f, "count");
		put_count(f);
	}
}

static void put_switch(struct file *f)
{
	put_named(f);
	if (choose(f, 8) == 0)
		fputs(", \"l2_latency\": \"300ns\", \"frames\": 64", f->out);
	fputc('}', f->out);
}

static void put_node(struct file *f)
{
	static const char *const roles[] = {"compute", "memory",   "both",  "compute",
					    "memory",  "ethernet", "server"};

	put_named(f);
	put_key(f, "role");
	fprintf(f->out, "\"%s\"", roles[choose(f, sizeof(roles) / sizeof(roles[0]))]);
	if (choose(f, 8) != 0) {
		put_key(f, "ends");
		if (!put_odd(f)) {
			fputs("[{\"to\": ", f->out);
			if (choose(f, 4) == 0)
				put_names(f, choose(f, 4));
			else if (!put_odd(f))
				put_reference(f);
			fputs(choose(f, ODD) == 0 ? "}, {\"to\": \"a\"}]" : "}]", f->out);
		}
	}
	fputc('}', f->out);
}

static void put_line(struct file *f)
{
	fputc('{', f->out);
	if (choose(f, 4) == 0) {
		fputs("\"node\": ", f->out);
		if (choose(f, 3) == 0)
			fputs("\"*\"", f->out);
		else if (!put_odd(f))
			put_reference(f);
		if (choose(f, 6) == 0)
			fprintf(f->out, ", \"port\": %u", choose(f, 16));
	} else {
		fputs("\"between\": ", f->out);
		put_names(f, choose(f, ODD) == 0 ? choose(f, 4) : 2);
		if (choose(f, 4) == 0) {
			put_key(f, "count");
			put_count(f);
		}
	}
	put_link(f);
	fputc('}', f->out);
}

static void put_entries(struct file *f, const char *key, void (*put)(struct file *f))
{
	unsigned int n = choose(f, ENTRIES_MAX + 1);

	fprintf(f->out, "\n\"%s\": [", key);
	for (unsigned int i = 0; i < n; i++) {
		fputs(i > 0 ? ",\n" : "", f->out);
		if (!put_odd(f))
			put(f);
	}
	fputc(']', f->out);
}

static void put_sections(struct file *f)
{
	put_entries(f, "switches", put_switch);
	fputc(',', f->out);
	put_entries(f, "nodes", put_node);
	fputc(',', f->out);
	put_entries(f, "links", put_line);
}

static void put_rack(struct file *f)
{
	put_named(f);
	if (choose(f, 8) != 0) {
		put_key(f, "of");
		if (!put_odd(f)) {
			fputc('{', f->out);
			put_sections(f);
			fputs(choose(f, 2 * ODD) == 0 ? ", \"racks\": []}" : "}", f->out);
		}
	}
	fputc('}', f->out);
}

static void put_tree(struct file *f)
{
	static const char *const keys[] = {"servers", "tor", "aggregation", "core", "pods"};

	fputs("{\"fat-tree\": {", f->out);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (i >= 2 && choose(f, 3) == 0)
			continue;
		fprintf(f->out, "%s\"%s\": ", i > 0 ? ", " : "", keys[i]);
		if (choose(f, 3) == 0)
			fprintf(f->out, "%u", 1U << choose(f, 6));
		else
			put_count(f);
	}
	if (choose(f, 4) == 0)
		fputs(", \"rates\": {\"tor\": \"50G\", \"core\": \"100G\"}, \"propagation\": \"1us\"",
		      f->out);
	fputs("}}", f->out);
}

static void put_fault(struct file *f)
{
	fputs("{\"class\": \"link_down\", \"from\": \"1us\", \"until\": \"2us\", ", f->out);
	if (choose(f, 3) == 0) {
		fputs("\"link\": ", f->out);
		put_reference(f);
	} else {
		fputs("\"between\": ", f->out);
		put_names(f, 2);
		if (choose(f, 4) == 0)
			fprintf(f->out, ", \"number\": %u", choose(f, 4));
	}
	fputc('}', f->out);
}

/* @return the caller's */
static char *write_file(struct input *in, size_t *len)
{
	static const char *const stacks[] = {"rocev2", "tcp", "ethernet", "rocev2", "edm", "pfabric", "ird"};
	char *text = NULL;
	struct file f = {.in = in, .out = open_memstream(&text, len)};

	require(f.out != NULL);
	fprintf(f.out, "{\"stack\": \"%s\", \"memory\": {\"size\": \"4KiB\"},",
		stacks[choose(&f, sizeof(stacks) / sizeof(stacks[0]))]);
	if (choose(&f, 4) == 0)
		fputs("\n\"switch\": {\"bridge\": \"pfc\"},", f.out);
	if (choose(&f, 4) == 0) {
		fputs("\n\"topology\": ", f.out);
		put_tree(&f);
		fputc(',', f.out);
		put_entries(&f, "nodes", put_node);
	} else {
		put_sections(&f);
	}
	if (choose(&f, 2) == 0) {
		fputc(',', f.out);
		put_entries(&f, "racks", put_rack);
	}
	if (choose(&f, 4) == 0) {
		fputc(',', f.out);
		put_entries(&f, "faults", put_fault);
	}
	if (choose(&f, 4) == 0) {
		fputs(",\n\"workload\": [{\"mix\": {\"read\": 1}, \"nodes\": ", f.out);
		put_reference(&f);
		fputs("}]", f.out);
	}
	fputs("}\n", f.out);
	require(fclose(f.out) == 0);
	return text;
}

/* ---- what has to hold ---- */

/* "fuzz:LINE: key: reason", of a line that there is. */
static void check_refusal(const char *err, const char *text)
{
	unsigned long lines = 1, line;
	char *end;

	for (const char *c = text; *c != '\0'; c++)
		lines += *c == '\n';
	for (const char *c = err; *c != '\0'; c++)
		require(isprint((unsigned char)*c));
	require(strncmp(err, "fuzz:", 5) == 0);
	line = strtoul(err + 5, &end, 10);
	require(line >= 1 && line <= lines && *end == ':' && strlen(end) > 3);
}

/* A name has one dot at most, and where it has one it is that of a rack. */
static void check_member(const struct mf_config *c, const struct mf_config_member *m)
{
	const char *dot = strchr(m->name, '.');

	require(m->name[0] != '\0' && strlen(m->name) < MF_CONFIG_NAME_LEN);
	require((dot != NULL) == (m->rack != 0) && m->rack <= c->racks);
	require(dot == NULL || strchr(dot + 1, '.') == NULL);
	require(mf_config_means(c, m->name, strlen(m->name), m));
	require(mf_config_means(c, m->entry, strlen(m->entry), m));
	if (dot == NULL)
		return;
	require(mf_config_means(c, m->name, (size_t)(dot - m->name), m));
	require(mf_config_means(c, c->rack[m->rack - 1].name, strlen(c->rack[m->rack - 1].name), m));
}

static void check_members(const struct mf_config *c)
{
	for (unsigned int i = 0; i < c->slots; i++) {
		const struct mf_config_member m = mf_config_node_member(c, i);

		if (!c->node[i].up)
			continue;
		check_member(c, &m);
		require(mf_config_node(c, m.name) == (int)i);
		require(c->switches == 0 || c->node[i].to < c->switches);
	}
	for (unsigned int i = 0; i < c->switches; i++) {
		const struct mf_config_member m = mf_config_switch_member(c, i);
		struct mf_config_switch_set set;

		check_member(c, &m);
		require(mf_config_switches(c, m.name, &set) == 1 && mf_config_has_switch(&set, i));
	}
}

static void check_links(const struct mf_config *c)
{
	unsigned int *ports = calloc(c->switches + 1, sizeof(*ports));

	require(ports != NULL);
	for (unsigned int i = 0; i < c->slots && c->switches > 0; i++)
		ports[c->node[i].to] += c->node[i].up;
	for (unsigned int i = 0; i < c->trunks; i++) {
		const struct mf_config_trunk *t = &c->trunk[i];

		require(t->a < t->b && t->b < c->switches && t->link.period > 0);
		require(i == 0 || t[-1].a < t->a || (t[-1].a == t->a && t[-1].b <= t->b));
		ports[t->a]++;
		ports[t->b]++;
	}
	for (unsigned int i = 0; i < c->switches; i++)
		require(ports[i] == c->switch_list[i].ports && ports[i] > 0 && ports[i] <= MF_PORTS_MAX);
	free(ports);
}

static char *write_again(const struct mf_config *c)
{
	json_t *json = mf_config_to_json(c);
	char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;

	require(text != NULL);
	json_decref(json);
	return text;
}

static void check_again(const char *text)
{
	struct mf_config again;
	char err[512] = "", *same;

	if (mf_config_parse(text, strlen(text), "again", &again, err, sizeof(err)) != 0) {
		fprintf(stderr, "%s\n%s\n", text, err);
		require(false);
	}
	same = write_again(&again);
	require(strcmp(text, same) == 0);
	free(same);
	mf_config_free(&again);
}

static void make(const struct mf_config *c)
{
	char err[512] = "";
	struct mf_fabric *f;

	if (c->nodes > NODES_MAX || c->switches > NODES_MAX || c->workloads == 0)
		return;
	f = mf_fabric_new(c, MF_CLOCK_VIRTUAL, err, sizeof(err));
	require((f == NULL) == (err[0] != '\0') && strchr(err, '\n') == NULL);
	mf_fabric_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct mf_config config;
	char err[512] = "", *effective;
	size_t len;
	char *text = write_file(&in, &len);

	if (getenv("FUZZ_SHOW") != NULL)
		fputs(text, stderr);
	if (mf_config_parse(text, len, "fuzz", &config, err, sizeof(err)) != 0) {
		check_refusal(err, text);
		free(text);
		return 0;
	}
	check_members(&config);
	check_links(&config);
	effective = write_again(&config);
	check_again(effective);
	make(&config);
	free(effective);
	mf_config_free(&config);
	free(text);
	return 0;
}
