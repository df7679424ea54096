/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/mf_rng.h"
#include "pcs/mf_frame.h"
#include "wires.h"

void wires_init(struct wires *w, const char *stack)
{
	*w = (struct wires){.ops = mf_stack_find(stack)};
	cr_assert_not_null(w->ops);
	for (unsigned int i = 0; w->ops->params[i].key != NULL; i++)
		w->param[i] = w->ops->params[i].value;
	w->flying = calloc(WIRES_FRAMES, sizeof(*w->flying));
}

void wires_set(struct wires *w, const char *key, double value)
{
	for (unsigned int i = 0; w->ops->params[i].key != NULL; i++)
		if (strcmp(w->ops->params[i].key, key) == 0) {
			w->param[i] = value;
			return;
		}
	cr_assert_fail("no parameter %s", key);
}

void wires_start(struct wires *w)
{
	const struct mf_memory_config memory = {.size = WIRES_MEMORY, .numa_node = -1, .dram = MF_NS(82)};
	struct mf_stack_config c = {.nodes = 2,
				    .compute = true,
				    .memory_ops = &mf_memory_flat,
				    .queue = WIRES_OPS,
				    .read_timeout = MF_SEC(1),
				    .write_timeout = MF_SEC(1),
				    .period = WIRES_PERIOD,
				    .param = w->param};

	c.timing.cost[MF_STAGE_PROTOCOL] = 230200;
	c.timing.cost[MF_STAGE_MAC] = 7680;
	for (uint16_t i = 0; i < 2; i++) {
		c.node = i;
		c.memory = w->memory[i] = mf_memory_flat.create(&memory);
		w->stack[i] = w->ops->create(&c);
		cr_assert_not_null(w->stack[i]);
	}
}

void wires_stop(struct wires *w)
{
	for (unsigned int i = 0; i < 2; i++) {
		w->ops->destroy(w->stack[i]);
		mf_memory_flat.destroy(w->memory[i]);
	}
	for (unsigned int i = 0; i < w->begun; i++)
		free(w->buffer[i]);
	free(w->flying);
}

unsigned int wires_op(struct wires *w, unsigned int from, enum mf_op_kind kind, uint64_t addr, uint64_t len)
{
	unsigned int i = w->begun++;
	struct mf_op op = {.kind = (uint8_t)kind,
			   .node = (uint16_t)(1 - from),
			   .addr = addr,
			   .len = len,
			   .rmw = MF_RMW_FADD,
			   .arg = {1, 0},
			   .user = i};

	cr_assert_lt(i, WIRES_OPS);
	op.buf = w->buffer[i] = calloc(1, len + 8);
	if (kind == MF_OP_WRITE || kind == MF_OP_WRITE_ACK)
		for (uint64_t k = 0; k < len; k++)
			w->buffer[i][k] = (uint8_t)(mf_hash64((uint64_t)i << 32 | k) | 1);
	cr_assert_eq(w->ops->submit(w->stack[from], w->now, &op), 0);
	return i;
}

static void send(struct wires *w, unsigned int from)
{
	struct wires_frame *f = &w->flying[w->tail % WIRES_FRAMES];
	uint8_t frame[MF_FRAME_MAX];
	uint16_t len = w->ops->pull(w->stack[from], w->now, frame);

	cr_assert_neq(len, 0, "ready() promised something");
	w->frames[from]++;
	w->octets[from] += len;
	w->free[from] = w->now + (8 + (len < 60 ? 60 : len) + 4 + 12 + 7) / 8 * (mf_time)WIRES_PERIOD;
	if (w->script != NULL && !w->script(w, from, frame, len))
		return;
	cr_assert_leq(len, sizeof(f->octets));
	cr_assert_lt(w->tail++ - w->head, WIRES_FRAMES);
	*f = (struct wires_frame){.at = w->free[from] + WIRES_DELAY, .to = 1 - from, .len = len};
	memcpy(f->octets, frame, len);
}

/** The first that arrives: frames of both lines overlap, so it need not be the oldest. */
static struct wires_frame *first(const struct wires *w)
{
	struct wires_frame *best = NULL;

	for (unsigned int i = w->head; i != w->tail; i++) {
		struct wires_frame *f = &w->flying[i % WIRES_FRAMES];

		if (f->len != 0 && (best == NULL || f->at < best->at))
			best = f;
	}
	return best;
}

static void receive(struct wires *w)
{
	struct wires_frame *f;

	while ((f = first(w)) != NULL && f->at <= w->now) {
		w->ops->frame(w->stack[f->to], f->at, f->octets, f->len);
		f->len = 0;
		while (w->head != w->tail && w->flying[w->head % WIRES_FRAMES].len == 0)
			w->head++;
	}
}

static void take(struct wires *w, unsigned int node)
{
	struct mf_completion c;

	while (w->ops->completions(w->stack[node], w->now, &c, 1) == 1) {
		cr_assert(!w->is_done[c.user], "operation %lu is over twice", (unsigned long)c.user);
		w->is_done[c.user] = true;
		w->done[c.user] = c;
		w->completed++;
	}
}

static mf_time next(const struct wires *w)
{
	const struct wires_frame *f = first(w);
	mf_time at = f != NULL ? f->at : MF_NEVER;

	for (unsigned int i = 0; i < 2; i++) {
		mf_time ready = w->ops->ready(w->stack[i]);

		at = mf_time_min(at, w->ops->next(w->stack[i]));
		if (ready != MF_NEVER)
			at = mf_time_min(at, mf_time_max(ready, w->free[i]));
	}
	return at;
}

static bool step(struct wires *w, mf_time until)
{
	mf_time at = next(w);

	if (at > until)
		return false;
	w->now = mf_time_max(w->now, at);
	receive(w);
	for (unsigned int i = 0; i < 2; i++) {
		w->ops->run(w->stack[i], w->now);
		take(w, i);
		while (w->free[i] <= w->now && w->ops->ready(w->stack[i]) <= w->now)
			send(w, i);
	}
	return true;
}

void wires_run(struct wires *w, mf_time until)
{
	while (step(w, until))
		;
	w->now = until;
}

void wires_finish(struct wires *w, mf_time until)
{
	while (w->completed < w->begun && step(w, until))
		;
	cr_assert_eq(w->completed, w->begun, "%u of %u are over", w->completed, w->begun);
}

uint8_t *wires_memory(struct wires *w, unsigned int node, uint64_t addr)
{
	return (uint8_t *)(uintptr_t)mf_memory_flat.at(w->memory[node], addr, 1);
}

uint64_t wires_counter(const struct wires *w, unsigned int node, const char *name)
{
	struct mf_counter c[MF_COUNTERS_MAX];
	unsigned int n = w->ops->counters(w->stack[node], c);

	for (unsigned int i = 0; i < n; i++)
		if (strcmp(c[i].name, name) == 0)
			return c[i].value;
	cr_assert_fail("no counter %s", name);
	return 0;
}
