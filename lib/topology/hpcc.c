/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_number.h"
#include "base/mf_unit.h"
#include "topology/mf_hpcc.h"

#define WORD 40 /* no sound word is longer */
#define LINK_LEN 12 /* the shortest link: "0 1 1bps 0 0" */

struct text {
	const char *next, *end; /**< lines to come */
	const char *at, *stop; /**< what is left of this line */
	uint64_t line; /**< from 1 */
	char word[WORD + 4]; /**< that was read last: printable, and no number or unit if it was not sound */
	char *err;
	size_t err_len;
};

static int wrong(const struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int wrong(const struct text *t, const char *format, ...)
{
	char what[MF_HPCC_ERROR];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(t->err, t->err_len, "line %" PRIu64 ": %s", t->line > 0 ? t->line : 1, what);
	return -EINVAL;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_blanks(struct text *t)
{
	while (t->at < t->stop && is_blank(*t->at))
		t->at++;
}

/** Goes to the next line that is not blank. @return false: there is none */
static bool next_line(struct text *t)
{
	while (t->next < t->end) {
		const char *feed = memchr(t->next, '\n', (size_t)(t->end - t->next));

		t->at = t->next;
		t->stop = feed != NULL ? feed : t->end;
		t->next = feed != NULL ? feed + 1 : t->end;
		t->line++;
		skip_blanks(t);
		if (t->at < t->stop)
			return true;
	}
	return false;
}

/** Reads the next word of the line into t->word. @return false: there is none */
static bool next_word(struct text *t)
{
	size_t n = 0;
	bool is_long;

	skip_blanks(t);
	if (t->at == t->stop)
		return false;
	for (; n < WORD && t->at < t->stop && !is_blank(*t->at); t->at++)
		t->word[n++] = *t->at > ' ' && *t->at < 0x7f ? *t->at : '?';
	is_long = t->at < t->stop && !is_blank(*t->at);
	while (t->at < t->stop && !is_blank(*t->at))
		t->at++;
	strcpy(t->word + n, is_long ? "..." : "");
	return true;
}

static int end_of_line(struct text *t, const char *after)
{
	return next_word(t) ? wrong(t, "'%s' follows %s", t->word, after) : 0;
}

/** Reads a whole number up to max. */
static int read_number(struct text *t, const char *what, uint64_t max, uint32_t *out)
{
	uint64_t n;
	int rc;

	if (!next_word(t))
		return wrong(t, "the %s is missing", what);
	rc = mf_number_whole(t->word, &n);
	if (rc == -EINVAL)
		return wrong(t, "the %s is not a number: '%s'", what, t->word);
	if (rc != 0 || n > max)
		return wrong(t, "the %s is more than %" PRIu64 ": %s", what, max, t->word);
	*out = (uint32_t)n;
	return 0;
}

static int read_head(struct text *t, struct mf_hpcc *h)
{
	if (!next_line(t))
		return wrong(t, "the text is empty");
	if (read_number(t, "number of nodes", MF_HPCC_NODES, &h->nodes) != 0)
		return -EINVAL;
	if (h->nodes == 0)
		return wrong(t, "there are no nodes");
	if (read_number(t, "number of switches", h->nodes, &h->switches) != 0 ||
	    read_number(t, "number of links", UINT32_MAX, &h->links) != 0)
		return -EINVAL;
	return end_of_line(t, "the number of links");
}

static int read_switches(struct text *t, struct mf_hpcc *h)
{
	if (h->switches == 0)
		return 0;
	for (uint32_t i = 0; i < h->switches; i++) {
		uint32_t id = 0;

		skip_blanks(t);
		if (t->at == t->stop && !next_line(t))
			return wrong(t, "the text ends after %" PRIu32 " of %" PRIu32 " switches", i,
				     h->switches);
		if (read_number(t, "id of a switch", h->nodes - 1, &id) != 0)
			return -EINVAL;
		if (h->is_switch[id])
			return wrong(t, "%" PRIu32 " is named twice as a switch", id);
		h->is_switch[id] = true;
	}
	return end_of_line(t, "the last switch");
}

/** The steps of units are those of times. So a rate is read as a time, with a picosecond for each bit/s. */
static int read_rate(struct text *t, uint64_t *rate)
{
	static const struct {
		const char *rate, *time;
	} units[] = {
		{"bps", "ps"}, {"kbps", "ns"}, {"Kbps", "ns"}, {"Mbps", "us"}, {"Gbps", "ms"}, {"Tbps", "s"},
	};
	char time[sizeof(t->word) + 3];
	size_t digits;
	mf_time ps = 0;
	int rc = -EINVAL;

	if (!next_word(t))
		return wrong(t, "the rate is missing");
	digits = strspn(t->word, "0123456789.");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(t->word + digits, units[i].rate) != 0)
			continue;
		snprintf(time, sizeof(time), "%.*s%s", (int)digits, t->word, units[i].time);
		rc = mf_unit_time(time, &ps);
	}
	if (rc == -ERANGE)
		return wrong(t, "the rate is too great: %s", t->word);
	if (rc != 0)
		return wrong(t, "not a rate such as 100Gbps: '%s'", t->word);
	if (ps == 0)
		return wrong(t, "the rate is 0");
	*rate = ps;
	return 0;
}

static int read_delay(struct text *t, mf_time *delay)
{
	if (!next_word(t))
		return wrong(t, "the delay is missing");
	switch (mf_unit_time(t->word, delay)) {
	case 0:
		return 0;
	case -ERANGE:
		return wrong(t, "the delay is too great: %s", t->word);
	default:
		return wrong(t, "not a delay such as 1000ns, in whole picoseconds: '%s'", t->word);
	}
}

static int read_loss(struct text *t, double *loss)
{
	const char *end;

	if (!next_word(t))
		return wrong(t, "the error rate is missing");
	end = mf_number_real(t->word, loss);
	if (end == NULL || *end != '\0' || *loss > 1)
		return wrong(t, "the error rate is not a number from 0 to 1: '%s'", t->word);
	return 0;
}

static int read_link(struct text *t, uint32_t nodes, struct mf_hpcc_link *l)
{
	if (read_number(t, "first node of the link", nodes - 1, &l->node[0]) != 0 ||
	    read_number(t, "second node of the link", nodes - 1, &l->node[1]) != 0)
		return -EINVAL;
	if (l->node[0] == l->node[1])
		return wrong(t, "node %" PRIu32 " is linked to itself", l->node[0]);
	if (read_rate(t, &l->rate) != 0 || read_delay(t, &l->delay) != 0 || read_loss(t, &l->loss) != 0)
		return -EINVAL;
	l->line = t->line;
	return end_of_line(t, "the error rate");
}

static int read_links(struct text *t, struct mf_hpcc *h)
{
	for (uint32_t i = 0; i < h->links; i++) {
		if (!next_line(t))
			return wrong(t, "the text ends after %" PRIu32 " of %" PRIu32 " links", i, h->links);
		if (read_link(t, h->nodes, &h->link[i]) != 0)
			return -EINVAL;
	}
	if (next_line(t) && *t->at >= '0' && *t->at <= '9')
		return wrong(t, "more than the %" PRIu32 " links of the first line", h->links);
	return 0;
}

static int parse(struct text *t, struct mf_hpcc *h)
{
	uint64_t possible = (uint64_t)(t->end - t->next) / LINK_LEN + 1;

	if (read_head(t, h) != 0)
		return -EINVAL;
	/* As many links as the text can hold, whatever it says. */
	h->is_switch = calloc(h->nodes, sizeof(*h->is_switch));
	h->link = calloc(h->links < possible ? h->links + 1 : possible, sizeof(*h->link));
	if (h->is_switch == NULL || h->link == NULL) {
		snprintf(t->err, t->err_len, "no memory for %" PRIu32 " nodes, %" PRIu32 " links", h->nodes,
			 h->links);
		return -ENOMEM;
	}
	return read_switches(t, h) != 0 || read_links(t, h) != 0 ? -EINVAL : 0;
}

int mf_hpcc_parse(const char *text, size_t len, struct mf_hpcc **out, char *err, size_t err_len)
{
	struct text t = {.next = text, .end = text + len, .err = err, .err_len = err_len};
	struct mf_hpcc *h = calloc(1, sizeof(*h));
	int rc;

	if (h == NULL) {
		snprintf(err, err_len, "no memory");
		return -ENOMEM;
	}
	rc = parse(&t, h);
	if (rc == 0)
		*out = h;
	else
		mf_hpcc_free(h);
	return rc;
}

void mf_hpcc_free(struct mf_hpcc *h)
{
	if (h == NULL)
		return;
	free(h->is_switch);
	free(h->link);
	free(h);
}
