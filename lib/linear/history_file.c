/* SPDX-License-Identifier: BSD-3-Clause */
/* Histories as files (docs/history.md): the header, the heads of the logs, the logs. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

#define MAGIC "MFHIST\r\n"
#define VERSION 1
#define IN_ORDER 1U
#define LOSSLESS 2U
#define TELLS 4U
#define FLAGS (IN_ORDER | LOSSLESS | TELLS)

struct file_head {
	char magic[8];
	uint32_t version, logs;
	uint64_t fingerprint;
	uint32_t sample, flags;
	uint64_t tick0, hz;
	uint8_t machine[16];
	uint64_t sum; /**< of what comes before it, and all heads of logs */
};
static_assert(sizeof(struct file_head) == 72, "no holes");

struct file_log {
	uint64_t words, records, full;
	uint64_t sum; /**< of its words */
};

static uint64_t sum_of(uint64_t sum, const void *octets, size_t words)
{
	const uint8_t *at = octets;
	uint64_t word;

	for (size_t i = 0; i < words; i++) {
		memcpy(&word, at + 8 * i, sizeof(word));
		sum = mf_hash64(sum + word);
	}
	return sum;
}

static uint64_t head_sum(const struct file_head *head, const struct file_log *log)
{
	return sum_of(sum_of(1, head, offsetof(struct file_head, sum) / 8), log,
		      head->logs * (sizeof(*log) / 8));
}

static struct file_head head_of(const struct mf_history *h)
{
	struct file_head head = {.version = VERSION,
				 .logs = h->logs,
				 .fingerprint = h->config.fingerprint,
				 .sample = h->config.sample,
				 .flags = (h->config.in_order ? IN_ORDER : 0) |
					  (h->config.lossless ? LOSSLESS : 0) | (h->config.tells ? TELLS : 0),
				 .tick0 = h->clock.tick0,
				 .hz = h->clock.hz};

	memcpy(head.magic, MAGIC, sizeof(head.magic));
	memcpy(head.machine, h->clock.machine, sizeof(head.machine));
	return head;
}

int mf_history_write(const struct mf_history *h, FILE *out)
{
	struct file_head head = head_of(h);
	struct file_log *log = calloc(h->logs, sizeof(*log));
	bool ok;

	if (log == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < h->logs; i++)
		log[i] = (struct file_log){.words = h->log[i].used,
					   .records = h->log[i].records,
					   .full = h->log[i].full,
					   .sum = sum_of(1, h->log[i].word, h->log[i].used)};
	head.sum = head_sum(&head, log);
	ok = fwrite(&head, sizeof(head), 1, out) == 1 && fwrite(log, sizeof(*log), h->logs, out) == h->logs;
	for (unsigned int i = 0; i < h->logs && ok; i++)
		ok = fwrite(h->log[i].word, sizeof(uint64_t), h->log[i].used, out) == h->log[i].used;
	free(log);
	return ok && fflush(out) == 0 ? 0 : -(errno != 0 ? errno : EIO);
}

/** What is wrong with a history that is read. */
struct complaint {
	char *err;
	size_t len;
};

static bool refuse(const struct complaint *c, const char *why)
{
	snprintf(c->err, c->len, "%s", why);
	return false;
}

static bool record_ok(const struct mf_history_config *config, const struct mf_history_record *r)
{
	bool under_way = r->outcome == MF_HISTORY_UNDER_WAY;

	for (size_t i = 0; i < sizeof(r->reserved); i++)
		if (r->reserved[i] != 0)
			return false;
	if (r->kind >= MF_HISTORY_KINDS || r->outcome >= MF_HISTORY_OUTCOMES || r->call >= MF_NEVER - 2)
		return false;
	if (r->addr >= HISTORY_ADDR_END || r->len == 0 || r->len > HISTORY_ADDR_END - r->addr)
		return false;
	if (under_way ? r->ret != MF_NEVER : r->ret < r->call || r->ret >= MF_NEVER - 2)
		return false;
	if (history_is_rmw(r->kind) && r->len != 8)
		return false;
	return r->words == history_words(config, r);
}

/** Records of operations are of one client, and in the order of their calls. */
static bool log_ok(const struct mf_history_log *l, const struct complaint *c)
{
	const struct mf_history_record *last = NULL;
	uint64_t place = 0, n = 0;

	for (; place < l->used; place = history_next(l, place), n++) {
		const struct mf_history_record *r = history_at(l, place);

		if (l->used - place < HISTORY_RECORD_WORDS ||
		    l->used - place - HISTORY_RECORD_WORDS < r->words || !record_ok(&l->history->config, r))
			return refuse(c, "a record is damaged");
		if (r->kind >= MF_HISTORY_OPS)
			continue;
		if (last != NULL && (last->client != r->client || last->call > r->call))
			return refuse(c, "a log is out of order");
		last = r;
	}
	return n == l->records || refuse(c, "a log has more records, or fewer, than it says");
}

static bool heads_ok(const struct file_head *head, size_t len, const struct complaint *c)
{
	if (len < sizeof(*head) || memcmp(head->magic, MAGIC, sizeof(head->magic)) != 0)
		return refuse(c, "no history");
	if (head->version != VERSION)
		return refuse(c, "a history of another version");
	if (len % sizeof(uint64_t) != 0)
		return refuse(c, "cut off, or something stands behind it");
	if (head->logs == 0 || head->logs > UINT16_MAX + 1U ||
	    (len - sizeof(*head)) / sizeof(struct file_log) < head->logs)
		return refuse(c, "cut off");
	if (head->sum != head_sum(head, (const void *)(head + 1)) || (head->flags & ~FLAGS) != 0 ||
	    head->sample > MF_HISTORY_SAMPLE_MAX)
		return refuse(c, "the header is damaged");
	return true;
}

static bool logs_ok(struct mf_history *h, const struct file_log *log, size_t words, const struct complaint *c)
{
	uint64_t *at =
		(uint64_t *)h->copy + (sizeof(struct file_head) + h->logs * sizeof(*log)) / sizeof(uint64_t);

	for (unsigned int i = 0; i < h->logs; i++) {
		struct mf_history_log *l = &h->log[i];

		if (log[i].words > words)
			return refuse(c, "cut off");
		*l = (struct mf_history_log){.history = h,
					     .word = at,
					     .room = log[i].words,
					     .used = log[i].words,
					     .records = log[i].records,
					     .full = log[i].full};
		if (log[i].sum != sum_of(1, at, log[i].words))
			return refuse(c, "a log is damaged");
		if (!log_ok(l, c))
			return false;
		at += log[i].words;
		words -= log[i].words;
	}
	return words == 0 || refuse(c, "something stands behind the last log");
}

/** @param copy  its own from now on */
static struct mf_history *parse(void *copy, size_t len, const struct complaint *c)
{
	const struct file_head *head = copy;
	const struct file_log *log = (const void *)(head + 1);
	struct mf_history *h = NULL;

	if (heads_ok(head, len, c))
		h = calloc(1, sizeof(*h));
	if (h == NULL) {
		free(copy);
		return NULL;
	}
	*h = (struct mf_history){.config = {.fingerprint = head->fingerprint,
					    .sample = head->sample,
					    .in_order = head->flags & IN_ORDER,
					    .lossless = head->flags & LOSSLESS,
					    .tells = head->flags & TELLS},
				 .clock = {.tick0 = head->tick0, .hz = head->hz},
				 .logs = head->logs,
				 .log = calloc(head->logs, sizeof(*h->log)),
				 .copy = copy};
	memcpy(h->clock.machine, head->machine, sizeof(h->clock.machine));
	if (h->log == NULL ||
	    !logs_ok(h, log, (len - sizeof(*head) - head->logs * sizeof(*log)) / sizeof(uint64_t), c)) {
		mf_history_free(h);
		return NULL;
	}
	return h;
}

struct mf_history *mf_history_parse(const void *octets, size_t len, char *err, size_t errlen)
{
	const struct complaint c = {err, errlen};
	void *copy = malloc(len > 0 ? len : 1);

	if (copy == NULL) {
		refuse(&c, "no memory");
		return NULL;
	}
	memcpy(copy, octets, len);
	return parse(copy, len, &c);
}

struct mf_history *mf_history_read(const char *path, char *err, size_t errlen)
{
	FILE *in = fopen(path, "rb");
	struct mf_history *h = NULL;
	char why[64];
	const struct complaint c = {why, sizeof(why)};
	void *copy = NULL;
	long len;

	why[0] = 0;
	if (in == NULL || fseek(in, 0, SEEK_END) != 0 || (len = ftell(in)) < 0) {
		snprintf(why, sizeof(why), "%s", strerror(errno));
	} else {
		rewind(in);
		copy = malloc((size_t)len + 1);
		if (copy == NULL || fread(copy, 1, (size_t)len, in) != (size_t)len) {
			snprintf(why, sizeof(why), "%s",
				 copy == NULL ? strerror(ENOMEM) : "it cannot be read");
			free(copy);
		} else {
			h = parse(copy, (size_t)len, &c);
		}
	}
	if (in != NULL)
		fclose(in);
	if (h == NULL)
		snprintf(err, errlen, "%s: %s", path, why);
	return h;
}
