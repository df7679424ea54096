/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of messages as CSV. A million lines are written: without printf. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric/mf_fabric_state.h"
#include "measure/mf_message_log.h"
#include "run/mf_fabric.h"
#include "run/mf_unloaded.h"

#define LINE_MAX_LEN 512

/** A line that is being made; numbers and names are short, so it always has room. */
struct line {
	char text[LINE_MAX_LEN];
	unsigned int len;
};

static void put_text(struct line *l, const char *text)
{
	size_t n = strlen(text);

	memcpy(l->text + l->len, text, n);
	l->len += (unsigned int)n;
	l->text[l->len++] = ',';
}

static void put_number(struct line *l, uint64_t n)
{
	char digit[20];
	unsigned int count = 0;

	do {
		digit[count++] = (char)('0' + n % 10);
		n /= 10;
	} while (n != 0);
	while (count > 0)
		l->text[l->len++] = digit[--count];
	l->text[l->len++] = ',';
}

static void put_time(struct line *l, mf_time t)
{
	if (t != MF_NEVER)
		put_number(l, t);
	else
		l->text[l->len++] = ',';
}

static const char *status_of(const struct message *m)
{
	if (m->status == MESSAGE_UNDER_WAY)
		return "under_way";
	return m->status == MF_OK && m->last == MF_NEVER ? "no_effect" : mf_status_name(m->status);
}

static int put_message(FILE *out, const struct mf_fabric *f, unsigned int client, const struct message *m)
{
	const struct mf_config *config = f->config;
	struct line l = {.len = 0};

	put_text(&l, config->node[client].name);
	put_text(&l, config->node[m->target].name);
	put_text(&l, mf_client_kind_name((enum mf_client_kind)m->kind));
	put_number(&l, m->size);
	put_text(&l, status_of(m));
	put_time(&l, m->intended);
	put_time(&l, m->start);
	put_time(&l, m->first);
	put_time(&l, m->last);
	put_time(&l, m->done);
	put_time(&l, f->unloaded != NULL && message_whole(m) ? unloaded_latency(f->unloaded, client, m)
							     : MF_NEVER);
	l.text[l.len - 1] = '\n';
	return fwrite(l.text, 1, l.len, out) == l.len ? 0 : -EIO;
}

int mf_fabric_messages(const struct mf_fabric *f, FILE *out)
{
	int err;

	if (f->messages == NULL)
		return -ENOENT;
	errno = 0;
	err = fputs("client,target,kind,size_octets,status,intended_ps,start_ps,first_ps,last_ps,done_ps,"
		    "alone_ps\n",
		    out) < 0
		      ? -EIO
		      : 0;
	for (unsigned int i = 0; i < f->nodes && err == 0; i++) {
		const struct message_client *c = &f->messages->client[i];

		for (uint32_t k = 0; k < c->count && err == 0; k++) {
			struct message m = message_at(c, k);

			err = put_message(out, f, i, &m);
		}
	}
	if (err == 0 && fflush(out) != 0)
		err = -EIO;
	return err != 0 && errno != 0 ? -errno : err;
}
