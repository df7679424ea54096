/* SPDX-License-Identifier: BSD-3-Clause */
/* Histories as files (docs/history.md): the header, the heads of the logs, the logs. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "linear/history.h"

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

__attribute__((format(printf, 2, 3))) static bool refuse(const struct complaint *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->err, c->len, format, args);
	va_end(args);
	return false;
}

/** A record, and where it stands: for whoever has to find it. */
struct standing {
	const struct mf_history_record *r;
	unsigned int log;
	uint64_t number; /**< in the log, from 0 on */
};

__attribute__((format(printf, 3, 4))) static bool refuse_record(const struct complaint *c,
								const struct standing *s, const char *format,
								...)
{
	char what[128];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return refuse(c, "log %u, record %lu: %s", s->log, (unsigned long)s->number, what);
}

static bool times_ok(const struct standing *s, const struct complaint *c)
{
	const struct mf_history_record *r = s->r;
	unsigned long ret = r->ret;

	if (r->call >= MF_NEVER - 2)
		return refuse_record(c, s, "call is %lu, which is no time", (unsigned long)r->call);
	if (r->outcome == MF_HISTORY_UNDER_WAY)
		return r->ret == MF_NEVER ||
		       refuse_record(c, s, "return is %lu, and with outcome 0 it is all ones", ret);
	if (r->ret < r->call)
		return refuse_record(c, s, "return is %lu, before the call at %lu", ret,
				     (unsigned long)r->call);
	return r->ret < MF_NEVER - 2 ||
	       refuse_record(c, s, "return is %lu, which is no time, and outcome is %u", ret, r->outcome);
}

static bool place_ok(const struct standing *s, const struct complaint *c)
{
	const struct mf_history_record *r = s->r;
	unsigned long octets = r->len;

	if (r->addr >= HISTORY_ADDR_END)
		return refuse_record(c, s, "address is 0x%lx, beyond 48 bits", (unsigned long)r->addr);
	if (r->len == 0 || r->len > HISTORY_ADDR_END - r->addr)
		return refuse_record(c, s, "octets is %lu: at least 1, to an address below 2^48", octets);
	return !history_is_rmw(r->kind) || r->len == 8 ||
	       refuse_record(c, s, "octets is %lu, and of an atomic it is 8", octets);
}

static bool record_ok(const struct mf_history_config *config, const struct standing *s,
		      const struct complaint *c)
{
	const struct mf_history_record *r = s->r;

	if (r->kind >= MF_HISTORY_KINDS)
		return refuse_record(c, s, "kind is %u: 0 to %d", r->kind, MF_HISTORY_KINDS - 1);
	if (r->outcome >= MF_HISTORY_OUTCOMES)
		return refuse_record(c, s, "outcome is %u: 0 to %d", r->outcome, MF_HISTORY_OUTCOMES - 1);
	if (r->reserved != 0)
		return refuse_record(c, s, "the octet behind status is 0, and it is %u", r->reserved);
	if (r->space >= MF_HISTORY_SPACES)
		return refuse_record(c, s, "space is %u: below 2^22", r->space);
	if (r->space != 0 && (r->kind == MF_HISTORY_CUT || r->kind == MF_HISTORY_UNKNOWN))
		return refuse_record(c, s, "space is %u, and of kind %u it is 0", r->space, r->kind);
	if (!times_ok(s, c) || !place_ok(s, c))
		return false;
	return r->words == history_words(config, r) ||
	       refuse_record(c, s, "words is %u, and by kind, address, octets and k it is %lu", r->words,
			     (unsigned long)history_words(config, r));
}

/** Records of operations are of one client, and in the order of their calls. */
static bool follows(const struct standing *s, const struct mf_history_record *last, const struct complaint *c)
{
	const struct mf_history_record *r = s->r;

	if (last == NULL)
		return true;
	if (last->client != r->client)
		return refuse_record(c, s, "client is %u, and before it was %u", r->client, last->client);
	return last->call <= r->call ||
	       refuse_record(c, s, "call is %lu, before that of the last operation, %lu",
			     (unsigned long)r->call, (unsigned long)last->call);
}

static bool log_ok(const struct mf_history_log *l, unsigned int log, const struct complaint *c)
{
	const struct mf_history_record *last = NULL;
	uint64_t place = 0, n = 0;

	for (; place < l->used; place = history_next(l, place), n++) {
		const struct standing s = {history_at(l, place), log, n};

		if (l->used - place < HISTORY_RECORD_WORDS)
			return refuse_record(c, &s, "the log ends within it");
		if (!record_ok(&l->history->config, &s, c))
			return false;
		if (l->used - place - HISTORY_RECORD_WORDS < s.r->words)
			return refuse_record(c, &s, "the log ends within its words");
		if (s.r->kind >= MF_HISTORY_OPS)
			continue;
		if (!follows(&s, last, c))
			return false;
		last = s.r;
	}
	return n == l->records || refuse(c, "log %u has %lu records and says %lu", log, (unsigned long)n,
					 (unsigned long)l->records);
}

static bool heads_ok(const struct file_head *head, size_t len, const struct complaint *c)
{
	if (len < sizeof(*head) || memcmp(head->magic, MAGIC, sizeof(head->magic)) != 0)
		return refuse(c, "no history");
	if (head->version != VERSION)
		return refuse(c, "a history of version %u: %d is known", head->version, VERSION);
	if (len % sizeof(uint64_t) != 0)
		return refuse(c, "cut off, or something stands behind it");
	if (head->logs == 0 || head->logs > UINT16_MAX + 1U)
		return refuse(c, "logs is %u: 1 to %u", head->logs, UINT16_MAX + 1U);
	if ((len - sizeof(*head)) / sizeof(struct file_log) < head->logs)
		return refuse(c, "cut off in the heads of its logs");
	if (head->sum != head_sum(head, (const void *)(head + 1)))
		return refuse(c, "the header is damaged: its sum is wrong");
	if ((head->flags & ~FLAGS) != 0)
		return refuse(c, "flags is 0x%x: 1, 2 and 4 are known", head->flags);
	return head->sample <= MF_HISTORY_SAMPLE_MAX ||
	       refuse(c, "k is %u: 0 to %d", head->sample, MF_HISTORY_SAMPLE_MAX);
}

static bool logs_ok(struct mf_history *h, const struct file_log *log, size_t words, const struct complaint *c)
{
	uint64_t *at =
		(uint64_t *)h->copy + (sizeof(struct file_head) + h->logs * sizeof(*log)) / sizeof(uint64_t);

	for (unsigned int i = 0; i < h->logs; i++) {
		struct mf_history_log *l = &h->log[i];

		if (log[i].words > words)
			return refuse(c, "cut off in log %u", i);
		*l = (struct mf_history_log){.history = h,
					     .word = at,
					     .capacity = log[i].words,
					     .used = log[i].words,
					     .records = log[i].records,
					     .full = log[i].full};
		if (log[i].sum != sum_of(1, at, log[i].words))
			return refuse(c, "log %u is damaged: its sum is wrong", i);
		if (!log_ok(l, i, c))
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
	bool ok;

	if (heads_ok(head, len, c)) {
		h = calloc(1, sizeof(*h));
		if (h == NULL)
			refuse(c, "%s", strerror(ENOMEM));
	}
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
	ok = h->log != NULL || refuse(c, "%s", strerror(ENOMEM));
	ok = ok && logs_ok(h, log, (len - sizeof(*head) - head->logs * sizeof(*log)) / sizeof(uint64_t), c);
	if (!ok) {
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
		refuse(&c, "%s", strerror(ENOMEM));
		return NULL;
	}
	memcpy(copy, octets, len);
	return parse(copy, len, &c);
}

struct mf_history *mf_history_read(const char *path, char *err, size_t errlen)
{
	FILE *in = fopen(path, "rb");
	struct mf_history *h = NULL;
	char why[256];
	const struct complaint c = {why, sizeof(why)};
	void *copy = NULL;
	long len;

	why[0] = 0;
	if (in == NULL || fseek(in, 0, SEEK_END) != 0 || (len = ftell(in)) < 0) {
		snprintf(why, sizeof(why), "%s", strerror(errno));
	} else if (len == LONG_MAX) { /* what a folder says of its length */
		snprintf(why, sizeof(why), "%s", strerror(EISDIR));
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
