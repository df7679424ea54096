/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PCS: frames to scrambled blocks and back, one link or eight in a batch. Gb/s count 64 bits a block,
 * preamble and gap included: a line of 25 Gb/s needs 25.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mf_rng.h"
#include "bench.h"
#include "pcs/mf_frame.h"
#include "pcs/mf_scrambler.h"

#define LINKS_MAX MF_PCS_BATCH
#define VARIANTS_MAX 8
#define FRAMES 64 /* different ones, in turn */
#define SPANS (4096 / MF_SPAN_MAX) /* of a link, in a step: 32 KiB of payload words */

enum direction { TRANSMIT, RECEIVE, SCRAMBLE, DESCRAMBLE };

struct pcs_param {
	enum direction direction;
	unsigned int links;
	uint16_t octets; /**< of a frame, without FCS */
	const struct mf_pcs_ops *variant; /**< NULL: what memfab-emu chooses */
};

struct link {
	struct mf_frame_enc enc;
	struct mf_frame_dec dec;
	struct mf_scrambler scrambler, descrambler;
	struct mf_scrambler start; /**< of the descrambler, at the beginning of what was sent */
	unsigned int next; /**< frame */
	struct mf_span span[SPANS];
	struct mf_span sent[SPANS]; /**< what is received again and again */
};

struct pcs {
	const struct bench_env *env;
	const struct pcs_param *param;
	uint8_t *frame; /**< [FRAMES] */
	struct link *link;
	uint64_t lost; /**< frames */
};

static void fill(struct pcs *p, struct link *l, struct mf_span *s)
{
	for (s->count = 0; s->count < MF_SPAN_MAX;) {
		unsigned int n;
		struct mf_block b;

		if (mf_frame_enc_open(&l->enc))
			mf_frame_enc_start(&l->enc, p->frame + l->next++ % FRAMES * p->param->octets,
					   p->param->octets);
		n = mf_frame_enc_blocks(&l->enc, s->word + s->count, s->sync + s->count,
					MF_SPAN_MAX - s->count);
		s->count = (uint16_t)(s->count + n);
		if (n == 0 && mf_frame_enc_next(&l->enc, &b) != MF_FRAME_NONE)
			mf_span_put(s, b.sync, b.word);
	}
}

/** A span of every link: in a batch where there are as many as it takes. */
static void scramble_spans(struct pcs *p, unsigned int i)
{
	struct mf_scrambler *scrambler[LINKS_MAX];
	uint64_t *word[LINKS_MAX];

	if (p->param->links == 1) {
		mf_scramble(&p->link->scrambler, p->link->span[i].word, MF_SPAN_MAX);
		return;
	}
	for (unsigned int k = 0; k < LINKS_MAX; k++) {
		scrambler[k] = &p->link[k].scrambler;
		word[k] = p->link[k].span[i].word;
	}
	mf_scramble_batch(scrambler, word, MF_SPAN_MAX);
}

static uint64_t transmit(void *ctx)
{
	struct pcs *p = ctx;

	for (unsigned int i = 0; i < SPANS; i++) {
		for (unsigned int k = 0; k < p->param->links; k++)
			fill(p, &p->link[k], &p->link[k].span[i]);
		scramble_spans(p, i);
	}
	return (uint64_t)SPANS * p->param->links;
}

static void receive_again(void *ctx)
{
	struct pcs *p = ctx;

	for (unsigned int k = 0; k < p->param->links; k++) {
		memcpy(p->link[k].span, p->link[k].sent, sizeof(p->link[k].span));
		p->link[k].descrambler = p->link[k].start;
	}
}

static void decode(struct pcs *p, struct link *l, const struct mf_span *s)
{
	const uint8_t *frame;
	unsigned int len;

	for (unsigned int i = 0; i < s->count;) {
		i += mf_frame_dec_blocks(&l->dec, s->sync + i, s->word + i, s->count - i, &frame, &len);
		p->lost += len != 0 && len != p->param->octets;
	}
}

static uint64_t receive(void *ctx)
{
	struct pcs *p = ctx;

	for (unsigned int i = 0; i < SPANS; i++) {
		for (unsigned int k = 0; k < p->param->links; k++)
			mf_descramble(&p->link[k].descrambler, p->link[k].span[i].word, MF_SPAN_MAX);
		for (unsigned int k = 0; k < p->param->links; k++)
			decode(p, &p->link[k], &p->link[k].span[i]);
	}
	return (uint64_t)SPANS * p->param->links;
}

static uint64_t scramble(void *ctx)
{
	struct pcs *p = ctx;

	for (unsigned int i = 0; i < SPANS; i++)
		scramble_spans(p, i);
	return (uint64_t)SPANS * p->param->links;
}

static uint64_t descramble(void *ctx)
{
	struct pcs *p = ctx;

	for (unsigned int i = 0; i < SPANS; i++)
		for (unsigned int k = 0; k < p->param->links; k++)
			mf_descramble(&p->link[k].descrambler, p->link[k].span[i].word, MF_SPAN_MAX);
	return (uint64_t)SPANS * p->param->links;
}

static void pcs_close(void *state)
{
	struct pcs *p = state;

	for (unsigned int k = 0; p->link != NULL && k < p->param->links; k++)
		mf_frame_dec_fini(&p->link[k].dec);
	free(p->link);
	free(p->frame);
	free(p);
}

static int set_up(struct pcs *p)
{
	struct mf_rng rng;

	p->frame = malloc((size_t)FRAMES * p->param->octets);
	p->link = aligned_alloc(64, p->param->links * sizeof(*p->link));
	if (p->frame == NULL || p->link == NULL)
		return -ENOMEM;
	memset(p->link, 0, p->param->links * sizeof(*p->link));
	mf_rng_init(&rng, 1, "pcs", 0);
	for (unsigned int i = 0; i < FRAMES * (unsigned int)p->param->octets; i++)
		p->frame[i] = (uint8_t)mf_rng_next(&rng);
	for (unsigned int k = 0; k < p->param->links; k++) {
		struct link *l = &p->link[k];

		mf_frame_enc_init(&l->enc, false);
		l->next = k; /* each sends something else */
		l->scrambler.state = l->start.state = MF_SCRAMBLER_INIT;
		if (mf_frame_dec_init(&l->dec) != 0)
			return -ENOMEM;
	}
	transmit(p);
	for (unsigned int k = 0; k < p->param->links; k++)
		memcpy(p->link[k].sent, p->link[k].span, sizeof(p->link[k].sent));
	return 0;
}

static void *pcs_open(const struct bench_line *line, const struct bench_env *env, char *why)
{
	struct pcs *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->env = env;
	p->param = line->param;
	if (set_up(p) == 0)
		return p;
	snprintf(why, BENCH_REASON, "no memory");
	pcs_close(p);
	return NULL;
}

/** Where the stream begins anew a frame is cut: the one in progress at its end. */
static bool received_all(const struct pcs *p)
{
	uint64_t frames = 0, bad = p->lost;

	for (unsigned int k = 0; k < p->param->links; k++) {
		frames += p->link[k].dec.frames;
		bad += p->link[k].dec.drops[MF_FRAME_BAD_FCS];
	}
	return frames > 0 && bad == 0;
}

static int pcs_run(void *state, struct bench_sample *out, char *why)
{
	static uint64_t (*const step[])(void *) = {transmit, receive, scramble, descramble};
	struct pcs *p = state;
	enum direction d = p->param->direction;
	double spans;

	mf_pcs_select(p->param->variant != NULL ? p->param->variant->simd_bits : UINT_MAX);
	spans = bench_loop(p->env, d == RECEIVE ? receive_again : NULL, step[d], p, out);
	mf_pcs_select(UINT_MAX);
	out->value = spans * MF_SPAN_MAX * 64e-9 / out->cpu;
	if (d != RECEIVE || received_all(p))
		return 0;
	snprintf(why, BENCH_REASON, "frames were not received as they were sent");
	return -EIO;
}

static const struct bench_ops pcs_ops = {.open = pcs_open, .run = pcs_run, .close = pcs_close};

/** The goal is for whole frames of 1,500 octets. */
static double goal_of(const struct pcs_param *p)
{
	if (p->octets != 1500 || p->variant != NULL)
		return 0;
	if (p->direction == TRANSMIT)
		return p->links == 1 ? 25 : 100;
	return p->direction == RECEIVE ? 100 : 0;
}

static void add_line(struct bench_suite *s, const struct pcs_param *p)
{
	static const char *const name[] = {"transmit", "receive", "scramble", "descramble"};
	static const char *const what[] = {"PCS transmit (encode, scramble)",
					   "PCS receive (descramble, decode)", "scrambler alone",
					   "descrambler alone"};
	struct bench_line l = {.unit = "Gb/s",
			       .better = BENCH_HIGHER,
			       .crosses = -1,
			       .goal = goal_of(p),
			       .ops = &pcs_ops,
			       .param = p};
	unsigned int n = 0;

	const char *variant = p->variant != NULL ? p->variant->name : "";

	snprintf(l.name, sizeof(l.name), "pcs.%s.%u.%ulink%s%s%s", name[p->direction], p->octets, p->links,
		 p->links > 1 ? "s" : "", p->variant != NULL ? "." : "", variant);
	snprintf(l.what, sizeof(l.what), "%s, %u B, %u link%s%s%s", what[p->direction],
		 p->octets + (p->octets == 60 ? MF_FCS_LEN : 0), p->links, p->links > 1 ? "s" : "",
		 p->variant != NULL ? ", " : "", variant);
	l.goal_kind = l.goal > 0 ? BENCH_GOAL : BENCH_NO_GOAL;
	if (p->variant == NULL)
		l.beside[n++] = p->octets == 60 ? "reference.memcpy.64.gbps" : "reference.memcpy.1500.gbps";
	if (p->variant == NULL && p->links == 1 && p->octets != 60) {
		l.beside[n++] = "reference.scrambler.words";
		l.beside[n++] = "reference.scrambler.bits";
	}
	bench_add(s, &l);
}

void bench_pcs(struct bench_suite *s)
{
	static const struct pcs_param param[] = {
		{TRANSMIT, 1, 60, NULL},         {TRANSMIT, 1, 1500, NULL},
		{TRANSMIT, LINKS_MAX, 60, NULL}, {TRANSMIT, LINKS_MAX, 1500, NULL},
		{RECEIVE, 1, 60, NULL},          {RECEIVE, 1, 1500, NULL},
		{RECEIVE, LINKS_MAX, 60, NULL},  {RECEIVE, LINKS_MAX, 1500, NULL},
		{SCRAMBLE, 1, 1500, NULL},       {SCRAMBLE, LINKS_MAX, 1500, NULL},
		{DESCRAMBLE, 1, 1500, NULL},     {DESCRAMBLE, LINKS_MAX, 1500, NULL},
	};

	static struct pcs_param narrow[VARIANTS_MAX][sizeof(param) / sizeof(param[0])];

	for (unsigned int i = 0; i < sizeof(param) / sizeof(param[0]); i++)
		add_line(s, &param[i]);
	/* The widest is what the lines above have. */
	for (unsigned int v = 0; v < VARIANTS_MAX && mf_pcs_variant(v + 1) != NULL; v++)
		for (unsigned int i = 0; i < sizeof(param) / sizeof(param[0]); i++) {
			narrow[v][i] = param[i];
			narrow[v][i].variant = mf_pcs_variant(v);
			if (param[i].octets == 1500)
				add_line(s, &narrow[v][i]);
		}
}
