/* SPDX-License-Identifier: BSD-3-Clause */
/* The fabrics of this process that telemetry knows, its commands, and their parameters. */
#include "telemetry/mf_telemetry.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "telemetry/telemetry.h"

#define PARAMS_MAX 256
#define NAMES_MAX 12288 /* octets of a list */

struct known {
	struct mf_fabric *f;
	char *file;
	unsigned int number;
	struct known *next;
};

/** Below it: all of what is known, and that it stays. */
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static struct known *known;
static unsigned int known_number;

/* Which parameters a command has, beside fabric= */
#define TAKES_NAME 1U
#define TAKES_KIND 2U
#define TAKES_FIRST 4U

struct command {
	const char *name;
	json_t *(*answer)(struct telemetry_query *q);
	unsigned int takes;
	const char *help;
};

#define OF_WHICH " Parameter where there are several fabrics: fabric=NUMBER|NAME"

static const struct command commands[] = {
	{"/memfab/config", telemetry_config, 0, "What a fabric is made of." OF_WHICH},
	{"/memfab/fabric", telemetry_fabric, 0, "Counters of a fabric, as in its report." OF_WHICH},
	{"/memfab/node", telemetry_node_of, TAKES_NAME | TAKES_FIRST,
	 "Nodes; or the counters of one. Parameters: NODE, or first=N"},
	{"/memfab/link", telemetry_link, TAKES_NAME | TAKES_FIRST,
	 "Links; or the counters of one, both ways. Parameters: NODE, or first=N"},
	{"/memfab/port", telemetry_port, TAKES_NAME | TAKES_FIRST,
	 "Ports that carry links; or the counters of one. Parameters: PORT, or first=N"},
	{"/memfab/carried", telemetry_tunnels, TAKES_NAME | TAKES_FIRST,
	 "Links that ports carry; or the counters of one, at its ends here. Parameters: NODE, or first=N"},
	{"/memfab/scheduler", telemetry_scheduler, 0, "Counters of the scheduler." OF_WHICH},
	{"/memfab/switch", telemetry_switch, 0, "Counters of the switch, and its drops by cause." OF_WHICH},
	{"/memfab/watchdog", telemetry_watchdog, 0, "Roles that had no turns." OF_WHICH},
	{"/memfab/spaces", telemetry_spaces, TAKES_NAME | TAKES_FIRST,
	 "Memory nodes with address spaces; or the spaces of one. Parameters: NODE, or NODE,first=N"},
	{"/memfab/latency", telemetry_latency, TAKES_NAME | TAKES_KIND,
	 "Latencies of all nodes or of one. Parameters: NODE, kind=KIND (with buckets)"},
};

json_t *telemetry_refuse(struct telemetry_query *q, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(q->error, sizeof(q->error), format, args);
	va_end(args);
	return NULL;
}

int telemetry_node(struct telemetry_query *q)
{
	int node = mf_config_node(q->f->config, q->name);

	if (node >= 0)
		return node;
	telemetry_refuse(q, "there is no node '%.63s'", q->name);
	return -1;
}

json_t *telemetry_names(const struct telemetry_query *q, unsigned int most,
			const char *(*name)(const void *ctx, unsigned int i), const void *ctx)
{
	json_t *o = json_object(), *names = json_array();
	unsigned int n = 0;
	size_t len = 0;

	for (unsigned int i = 0; i < most; i++) {
		const char *text = name(ctx, i);

		if (text == NULL || n++ < q->first || len > NAMES_MAX)
			continue;
		len += strlen(text) + 3;
		json_array_append_new(names, json_string(text));
	}
	json_object_set_new(o, "names", names);
	json_object_set_new(o, "first", json_integer(q->first));
	json_object_set_new(o, "total", json_integer(n));
	return o;
}

/* Parameters */

/** @return whether text is a number, of at most 9 digits */
static bool read_number(const char *text, unsigned int *out)
{
	size_t len = strlen(text);

	if (len == 0 || len > 9 || strspn(text, "0123456789") != len)
		return false;
	*out = (unsigned int)strtoul(text, NULL, 10);
	return true;
}

static bool is_meant(const struct known *k, const char *fabric)
{
	unsigned int number;

	if (read_number(fabric, &number))
		return k->number == number;
	return strcmp(k->f->config->name, fabric) == 0 || (k->file != NULL && strcmp(k->file, fabric) == 0);
}

/** @param fabric  NULL: the only one */
static bool choose(struct telemetry_query *q, const char *fabric)
{
	const struct known *found = NULL;

	for (const struct known *k = known; k != NULL; k = k->next) {
		if (fabric != NULL && !is_meant(k, fabric))
			continue;
		if (found != NULL) {
			telemetry_refuse(q, "which fabric? fabric=NUMBER, see /memfab/list");
			return false;
		}
		found = k;
	}
	if (found == NULL) {
		telemetry_refuse(q, fabric != NULL ? "there is no such fabric, see /memfab/list"
						   : "there is no fabric now");
		return false;
	}
	q->f = found->f;
	q->file = found->file;
	q->number = found->number;
	return true;
}

static bool read_one(struct telemetry_query *q, unsigned int takes, char *text, const char **fabric)
{
	char *value = strchr(text, '=');

	if (value == NULL) {
		if (!(takes & TAKES_NAME) || q->name != NULL) {
			telemetry_refuse(q, "'%.63s' is one name too many", text);
			return false;
		}
		q->name = text;
		return true;
	}
	*value++ = '\0';
	if (strcmp(text, "fabric") == 0)
		*fabric = value;
	else if (strcmp(text, "kind") == 0 && (takes & TAKES_KIND))
		q->kind = value;
	else if (strcmp(text, "first") != 0 || !(takes & TAKES_FIRST) || !read_number(value, &q->first)) {
		telemetry_refuse(q, "'%.31s=%.31s' is no parameter of this command", text, value);
		return false;
	}
	return true;
}

/** What came from outside may be anything; what is said of it is ASCII. */
static bool copy_params(struct telemetry_query *q, const char *params, char out[PARAMS_MAX])
{
	size_t len = params != NULL ? strlen(params) : 0;

	if (len >= PARAMS_MAX) {
		telemetry_refuse(q, "parameters have less than %d characters", PARAMS_MAX);
		return false;
	}
	memcpy(out, params != NULL ? params : "", len + 1);
	for (char *c = out; *c != '\0'; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
	return true;
}

static json_t *answer(const struct command *c, struct telemetry_query *q, const char *params)
{
	char text[PARAMS_MAX], *rest, *one;
	const char *fabric = NULL;
	json_t *o;

	if (!copy_params(q, params, text))
		return NULL;
	for (one = strtok_r(text, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest))
		if (!read_one(q, c->takes, one, &fabric))
			return NULL;
	if (!choose(q, fabric))
		return NULL;
	pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&q->f->readers);
	o = c->answer(q);
	pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&q->f->readers);
	return o;
}

/* Commands */

static int say_error(const char *why, struct rte_tel_data *out)
{
	rte_tel_data_start_dict(out);
	rte_tel_data_add_dict_string(out, "error", why[0] != '\0' ? why : "no memory");
	return 0;
}

static int serve(const char *name, const char *params, struct rte_tel_data *out)
{
	struct telemetry_query q = {0};
	const struct command *c = commands;
	json_t *o;
	int rc;

	while (strcmp(c->name, name) != 0)
		c++;
	pthread_mutex_lock(&known_lock);
	o = answer(c, &q, params);
	pthread_mutex_unlock(&known_lock);
	if (o == NULL)
		return say_error(q.error, out);
	rc = telemetry_reply(o, out);
	json_decref(o);
	return rc == 0 ? 0 : say_error(rc == -E2BIG ? "this is too long for a reply" : "", out);
}

static int list(const char *name __rte_unused, const char *params __rte_unused, struct rte_tel_data *out)
{
	json_t *o = json_object();
	char number[16];
	int rc;

	pthread_mutex_lock(&known_lock);
	for (const struct known *k = known; k != NULL; k = k->next) {
		snprintf(number, sizeof(number), "%u", k->number);
		json_object_set_new(o, number, json_string(k->f->config->name));
	}
	pthread_mutex_unlock(&known_lock);
	rc = telemetry_reply(o, out);
	json_decref(o);
	return rc == 0 ? 0 : say_error(rc == -E2BIG ? "there are too many fabrics" : "", out);
}

/** From the start of the program on, and for ever: DPDK cannot take a command back. */
RTE_INIT(memfab_telemetry)
{
	rte_telemetry_register_cmd("/memfab/list", list, "Fabrics of this process, by number. No parameters");
	for (unsigned int i = 0; i < RTE_DIM(commands); i++)
		rte_telemetry_register_cmd(commands[i].name, serve, commands[i].help);
}

int mf_telemetry_add(struct mf_fabric *f, const char *file)
{
	struct known *k = calloc(1, sizeof(*k)), **at = &known;

	if (k == NULL || (file != NULL && (k->file = strdup(file)) == NULL)) {
		free(k);
		return -ENOMEM;
	}
	k->f = f;
	pthread_mutex_lock(&known_lock);
	k->number = known_number++;
	while (*at != NULL)
		at = &(*at)->next;
	*at = k;
	pthread_mutex_unlock(&known_lock);
	return 0;
}

void mf_telemetry_remove(const struct mf_fabric *f)
{
	struct known **at = &known, *k;

	pthread_mutex_lock(&known_lock);
	while (*at != NULL && (*at)->f != f)
		at = &(*at)->next;
	k = *at;
	if (k != NULL)
		*at = k->next;
	pthread_mutex_unlock(&known_lock);
	if (k != NULL)
		free(k->file);
	free(k);
}
