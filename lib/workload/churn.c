/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload/churn.h"

#include <errno.h>
#include <stdlib.h>

#include "memory/mf_space.h"

#define NONE UINT32_MAX
#define RUN_MAX 4 /* pages of a task, but for those of all */
#define STRAYS 16

/** What is asked of a space, by a slot. */
struct task {
	uint32_t target, space;
	uint64_t addr, arg;
	uint8_t what; /**< enum mf_space_task */
	bool step; /**< to a space that is being made */
};

struct churn {
	struct mf_churn config;
	struct mf_rng rng;
	uint32_t targets;
	struct task *task; /**< [slots] */
	bool *wanted; /**< [targets * spaces]: its own that are to be made */
	uint32_t wanted_n;
	uint32_t making; /**< one of them; NONE */
	uint32_t step; /**< to it */
	bool stepping; /**< the step is under way */
	struct task stray[STRAYS]; /**< FREE, of what was allocated elsewhere than it was wanted */
	uint32_t strays;
};

static uint64_t draw(struct churn *ch, uint64_t n)
{
	return mf_rng_below(&ch->rng, n);
}

/** Number 0 is that of no space. @param maker  place of a client */
static uint32_t space_of(const struct churn *ch, uint32_t maker, uint32_t k)
{
	return mf_space_number(ch->config.number[maker], 1 + k);
}

static unsigned int class_at(const struct mf_client *c, uint32_t target)
{
	return c->churn->config.page_class[client_target(c, target)->node];
}

/** The first page of a class is never given out. */
static uint64_t page_at(const struct mf_client *c, uint32_t target, uint64_t page)
{
	return mf_remote_class_base(class_at(c, target)) + ((1 + page) << c->churn->config.shift);
}

void churn_place(struct mf_client *c, const struct slot *s)
{
	const struct mf_churn *config = &c->churn->config;
	uint64_t page = s->offset >> config->shift, space = page / config->pages;

	c->op.space =
		space_of(c->churn, (uint32_t)(space / config->spaces), (uint32_t)(space % config->spaces));
	c->op.addr = page_at(c, s->region, page % config->pages) +
		     (s->offset & ((UINT64_C(1) << config->shift) - 1));
}

/* ---- what is asked ---- */

/** Of some pages of a space: drawn, or of all. */
static struct task of_pages(struct mf_client *c, struct task t, bool all)
{
	struct churn *ch = c->churn;
	uint64_t page = all ? 0 : draw(ch, ch->config.pages), left = ch->config.pages - page;
	uint64_t most = draw(ch, 4) == 0 ? RUN_MAX : 1;
	uint64_t pages = all ? left : 1 + draw(ch, left < most ? left : most);
	uint64_t octets = pages << ch->config.shift;
	uint8_t rights = (uint8_t)(draw(ch, 4) == 0 ? draw(ch, MF_PAGE_RIGHTS) : MF_PAGE_WRITE);

	t.addr = page_at(c, t.target, page);
	t.arg = t.what == MF_SPACE_FREE ? octets : MF_SPACE_ALLOC(octets, class_at(c, t.target), rights);
	return t;
}

static struct task grant_to(struct churn *ch, struct task t, uint32_t client)
{
	uint64_t rights = draw(ch, 8) == 0 ? draw(ch, MF_PAGE_RIGHTS) : MF_PAGE_WRITE;

	t.what = MF_SPACE_GRANT;
	t.arg = MF_SPACE_GRANTED(ch->config.number[client], rights);
	return t;
}

static struct task anything(struct mf_client *c)
{
	struct churn *ch = c->churn;
	uint32_t k = (uint32_t)draw(ch, ch->config.spaces);
	struct task own = {.target = (uint32_t)draw(ch, ch->targets),
			   .space = space_of(ch, ch->config.client, k),
			   .what = MF_SPACE_END};
	struct task any = own;
	uint64_t what = draw(ch, 100);

	any.space = space_of(ch, (uint32_t)draw(ch, ch->config.clients), k);
	if (what < 2)
		return own;
	if (what < 6)
		return grant_to(ch, own, (uint32_t)draw(ch, ch->config.clients));
	if (what < 10) {
		any.what = MF_SPACE_FENCE;
		return any;
	}
	any.what = what < 15 ? MF_SPACE_PROTECT : what < 45 ? MF_SPACE_FREE : MF_SPACE_ALLOCATE;
	return of_pages(c, any, any.what == MF_SPACE_ALLOCATE && draw(ch, 8) == 0);
}

/* ---- spaces of its own, step by step ---- */

/** The steps behind END and MAKE. */
enum { STEP_END, STEP_MAKE, STEP_GRANT };

static uint32_t last_step(const struct churn *ch)
{
	return STEP_GRANT + ch->config.clients;
}

static struct task next_step(struct mf_client *c)
{
	struct churn *ch = c->churn;
	struct task t = {.target = ch->making / ch->config.spaces,
			 .space = space_of(ch, ch->config.client, ch->making % ch->config.spaces),
			 .step = true};

	if (ch->step >= STEP_GRANT && ch->step < last_step(ch))
		return grant_to(ch, t, ch->step - STEP_GRANT);
	t.what = ch->step == STEP_END    ? MF_SPACE_END
		 : ch->step == STEP_MAKE ? MF_SPACE_MAKE
					 : MF_SPACE_ALLOCATE;
	return t.what == MF_SPACE_ALLOCATE ? of_pages(c, t, true) : t;
}

static void stepped(struct churn *ch, bool ok)
{
	ch->stepping = false;
	if (ch->step == STEP_MAKE && !ok) {
		ch->step = STEP_END;
		return;
	}
	ch->step += 1 + (ch->step + 1 == STEP_GRANT + ch->config.client);
	if (ch->step <= last_step(ch))
		return;
	ch->wanted[ch->making] = false;
	ch->wanted_n--;
	ch->making = NONE;
}

static void want(struct churn *ch, uint32_t i)
{
	ch->wanted_n += !ch->wanted[i];
	ch->wanted[i] = true;
	if (ch->making == i && !ch->stepping)
		ch->step = STEP_END;
}

/** Whether a step is due. */
static bool has_step(struct churn *ch)
{
	uint32_t i = 0;

	if (ch->stepping || ch->wanted_n == 0)
		return false;
	if (ch->making != NONE)
		return true;
	while (!ch->wanted[i])
		i++;
	ch->making = i;
	ch->step = STEP_END;
	return true;
}

void churn_lose(struct mf_client *c, uint32_t target)
{
	for (uint32_t k = 0; k < c->churn->config.spaces; k++)
		want(c->churn, target * c->churn->config.spaces + k);
}

/* ---- from slots to tasks and back ---- */

static void put(struct mf_client *c, struct slot *s, const struct task *t)
{
	c->churn->task[client_place(s)] = *t;
	c->churn->stepping |= t->step;
	s->region = t->target;
	s->node = client_target(c, t->target)->node;
	s->kind = CHURN_TASK;
	s->offset = 0;
	s->len = 2 * sizeof(uint64_t);
	c->op.kind = MF_OP_RMW;
	c->op.rmw = MF_RMW_SPACE;
	c->op.node = s->node;
	c->op.space = t->space;
	c->op.addr = t->addr;
	c->op.len = s->len;
	c->op.buf = client_buffer(c, s);
	c->op.arg[0] = MF_SPACE_ASK(t->what, 0, 0);
	c->op.arg[1] = t->arg;
	c->op.user = s->user;
}

bool churn_ask(struct mf_client *c, struct slot *s)
{
	struct churn *ch = c->churn;
	struct task t;

	if (has_step(ch))
		t = next_step(c);
	else if (mf_rng_double(&ch->rng) >= ch->config.share)
		return false;
	else
		t = ch->strays > 0 ? ch->stray[--ch->strays] : anything(c);
	put(c, s, &t);
	return true;
}

void churn_done(struct mf_client *c, const struct slot *s, const struct mf_completion *done)
{
	struct churn *ch = c->churn;
	const struct task *t = &ch->task[client_place(s)];
	const uint64_t *answer = client_buffer(c, s); /* what became of it, and what came of it */
	bool ok = done->status == MF_OK && answer[0] == MF_OK;

	c->stats.tasks++;
	c->stats.tasks_done += ok;
	if (t->step)
		stepped(ch, ok);
	else if (ok && t->what == MF_SPACE_END)
		want(ch, t->target * ch->config.spaces + (t->space - space_of(ch, ch->config.client, 0)));
	if (ok && t->what == MF_SPACE_ALLOCATE && answer[1] != t->addr && ch->strays < STRAYS)
		ch->stray[ch->strays++] = (struct task){.target = t->target,
							.space = t->space,
							.addr = answer[1],
							.arg = t->arg & MF_SPACE_OCTETS_MASK,
							.what = MF_SPACE_FREE};
}

/* ---- set-up ---- */

static bool config_ok(const struct mf_client *c, const struct mf_client_config *config)
{
	const struct mf_churn *x = config->churn;

	return x->clients > 0 && x->client < x->clients && x->number != NULL && x->page_class != NULL &&
	       x->spaces > 0 && x->pages > 0 && x->spaces < 1u << MF_SPACE_OF_NODE_BITS &&
	       x->shift >= MF_PAGE_SHIFT_MIN && x->shift <= MF_PAGE_SHIFT_MAX && x->share >= 0 &&
	       x->share <= 1 && c->targets > 0 &&
	       config->span == (uint64_t)x->clients * x->spaces * x->pages << x->shift && !config->verify;
}

int churn_init(struct mf_client *c, const struct mf_client_config *config)
{
	struct churn *ch;

	if (!config_ok(c, config))
		return -EINVAL;
	ch = calloc(1, sizeof(*ch));
	if (ch == NULL)
		return -ENOMEM;
	c->churn = ch;
	ch->config = *config->churn;
	ch->targets = c->targets;
	ch->making = NONE;
	mf_rng_init(&ch->rng, config->seed, "client.churn", config->node);
	ch->task = calloc((size_t)c->slot_mask + 1, sizeof(*ch->task));
	ch->wanted = calloc((size_t)c->targets * ch->config.spaces, sizeof(*ch->wanted));
	if (ch->task == NULL || ch->wanted == NULL)
		return -ENOMEM;
	for (uint32_t t = 0; t < c->targets; t++)
		churn_lose(c, t);
	return 0;
}

void churn_fini(struct churn *ch)
{
	if (ch == NULL)
		return;
	free(ch->task);
	free(ch->wanted);
	free(ch);
}
