/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "judge_access.h"
#include "judge_graph.h"
#include "linear/mf_history.h"
#include "measure/mf_live.h"
#include "run/mf_leaks.h"

#define TICK MF_US(5)
#define STATES (1U << 16) /* that the search visits for a word: beyond that it gives up, and says so */
#define HISTORY (UINT64_C(64) << 20) /* octets of all clients; what is not used takes no memory */

/** A run under way. */
struct run {
	struct mf_config config;
	struct mf_fabric *f;
	mf_time calm_from; /**< no timer of what faults did runs any more; MF_NEVER: never so */
	bool calm;
	uint64_t failed, completed; /**< until then */
};

static void add_up(const struct mf_fabric *f, unsigned int nodes, struct verdict *v)
{
	v->sum[SUM_COMPLETED] = v->sum[SUM_FAILED] = v->sum[SUM_VERIFIED] = 0;
	for (unsigned int i = 0; i < nodes; i++) {
		const struct mf_client_stats *c = mf_fabric_client(f, i);

		if (c == NULL)
			continue;
		v->sum[SUM_COMPLETED] += c->completed_all;
		v->sum[SUM_FAILED] += c->failed_all;
		v->sum[SUM_VERIFIED] += c->verified;
	}
}

/** How long a link is down behind the last block that was damaged on it: disabled, or in local fault. */
static mf_time down_for(const struct mf_config *config)
{
	mf_time longest = 0;

	for (unsigned int i = 0; i < config->slots; i++) {
		const struct mf_config_link *l = &config->node[i].link;

		if (config->node[i].up && l->disable.on && l->disable.repair == 0)
			return MF_NEVER;
		if (config->node[i].up)
			longest = mf_time_max(longest, l->disable.on ? l->disable.repair : 2 * l->ber_window);
	}
	return longest + MF_US(10);
}

/** When the last fault is over, and what it did to links. */
static mf_time over(const struct mf_config *config)
{
	mf_time last = 0, down = down_for(config);

	for (unsigned int i = 0; i < config->faults; i++) {
		const struct mf_config_fault *f = &config->fault[i];
		bool damages = f->class <= MF_FAULT_CUT || f->class == MF_FAULT_GARBAGE;

		if (f->class == MF_FAULT_SKEW)
			continue;
		if (f->until == MF_NEVER || (damages && down == MF_NEVER))
			return MF_NEVER;
		last = mf_time_max(last, f->until + (damages ? down : 0));
	}
	return last;
}

/** The longest that an operation may take, its id (twice: it was not sent), and what waits for that. */
static mf_time longest_of(const struct mf_config_node *node)
{
	mf_time read = node->host.read_timeout[MF_CLOCK_VIRTUAL],
		write = node->host.write_timeout[MF_CLOCK_VIRTUAL];

	return 2 * node->host.quarantine[MF_CLOCK_VIRTUAL] + 2 * mf_time_max(read, write);
}

/** What faults left behind ends by timers: an operation's, then its id's; what waits for that, once more. */
static mf_time calm_from(const struct mf_config *config)
{
	mf_time last = over(config), longest = 0;

	for (unsigned int i = 0; i < config->slots; i++)
		if (config->node[i].up)
			longest = mf_time_max(longest, longest_of(&config->node[i]));
	longest += longest / 8; /* by the slowest clock */
	return last == MF_NEVER ? MF_NEVER : last + longest;
}

static void look(void *ctx, mf_time now)
{
	struct run *r = ctx;
	struct verdict v;

	if (r->calm || now < r->calm_from)
		return;
	add_up(r->f, r->config.slots, &v);
	r->calm = true;
	r->failed = v.sum[SUM_FAILED];
	r->completed = v.sum[SUM_COMPLETED];
}

/** Liveness: when faults and their timers are over all goes on, and nothing fails. */
static void judge_calm(const struct run *r, struct verdict *v)
{
	v->sum[SUM_CALM] = r->calm;
	if (!r->calm)
		return;
	if (v->sum[SUM_FAILED] != r->failed)
		verdict_violation(v, "calm", "%llu operations failed though the last fault was long over",
				  (unsigned long long)(v->sum[SUM_FAILED] - r->failed));
	if (v->sum[SUM_COMPLETED] == r->completed)
		verdict_violation(v, "calm", "no operation completed any more when faults were over");
}

/** Nothing is measured here, so all that is done counts: a case may be over within its warm-up. */
static void without_warmup(struct mf_config *config)
{
	config->clock[MF_CLOCK_VIRTUAL].duration += config->clock[MF_CLOCK_VIRTUAL].warmup;
	config->clock[MF_CLOCK_VIRTUAL].warmup = 0;
}

static int set_up(struct run *r, const char *text, const char *name, struct verdict *v)
{
	char err[REASON_LEN];
	int rc = mf_config_parse(text, strlen(text), name, &r->config, err, sizeof(err));

	if (rc != 0) {
		verdict_violation(v, "refused", "%s", err);
		return rc;
	}
	without_warmup(&r->config);
	r->calm_from = calm_from(&r->config);
	r->f = mf_fabric_new(&r->config, MF_CLOCK_VIRTUAL, err, sizeof(err));
	if (r->f == NULL || (r->config.tier->stack_ops == NULL && mf_fabric_audit(r->f) != 0)) {
		verdict_violation(v, "refused", "%s", r->f == NULL ? err : "no memory");
		mf_fabric_free(r->f);
		mf_config_free(&r->config);
		return -EINVAL;
	}
	return 0;
}

static void count_fired(const json_t *result, struct verdict *v)
{
	const json_t *faults = json_object_get(result, "faults");
	const json_t *drops = json_object_get(json_object_get(result, "drops"), "switch");

	for (unsigned int i = 0; i < MF_FAULT_CLASSES; i++)
		v->fired[i] = (uint64_t)json_integer_value(json_object_get(faults, mf_fault_names[i]));
	v->sum[SUM_CUT] = (uint64_t)json_integer_value(json_object_get(drops, "cut"));
}

/** Whether memory that answers each request at one instant can have told the clients what they were told. */
static void judge_history(const struct run *r, struct verdict *v)
{
	const struct mf_history *h = mf_fabric_history(r->f);
	struct mf_history_verdict found;
	int rc;

	if (h == NULL)
		return;
	rc = mf_history_check(&h, 1, STATES, &found);
	if (rc != 0) {
		verdict_violation(v, "failed", "history: %s", strerror(-rc));
		return;
	}
	v->sum[SUM_WORDS] = found.words - found.gave_up;
	v->sum[SUM_GAVE_UP] = found.gave_up;
	if (found.answer == MF_HISTORY_NO)
		verdict_violation(
			v, "history",
			"node %u, space 0x%x, address 0x%llx: no order of %zu operations explains them all",
			found.node, found.space, (unsigned long long)found.addr, found.ops);
	mf_history_verdict_free(&found);
	judge_access(&r->config, h, v);
}

/** Where one of two switches dies once, and nothing else breaks, none fails that is not refused anyway. */
static void judge_failover(const struct run *r, struct verdict *v)
{
	const struct mf_config *c = &r->config;
	uint64_t failed = v->sum[SUM_FAILED], refused = v->sum[SUM_REFUSED];

	if (!c->backup.on || c->faults != 1 || c->fault[0].class != MF_FAULT_SWITCH_CRASH ||
	    c->fault[0].every != 0 || c->limits.rate != 0 || c->limits.outstanding != 0 || failed <= refused)
		return;
	verdict_violation(v, "failover", "%llu operations failed though one switch was there all the time",
			  (unsigned long long)(failed - refused));
}

static void judge_all(const struct run *r, int rc, struct verdict *v)
{
	char err[REASON_LEN];
	struct mf_sched_stats s;

	add_up(r->f, r->config.slots, v);
	if (r->config.tier->stack_ops == NULL) {
		mf_fabric_sched(r->f, &s);
		v->sum[SUM_GRANTS] = s.grants;
	}
	if (rc != 0)
		verdict_violation(v, "failed", "%s",
				  mf_fabric_error(r->f) != NULL ? mf_fabric_error(r->f) : strerror(-rc));
	if (!mf_fabric_sound(r->f, err, sizeof(err)))
		verdict_violation(v, "unsound", "%s", err);
	if (r->config.tier->stack_ops == NULL && !mf_fabric_audited(r->f, err, sizeof(err)))
		verdict_violation(v, "schedule", "%s", err);
	if (mf_fabric_leaks(r->f, err, sizeof(err)))
		verdict_violation(v, "leak", "%s", err);
	judge_history(r, v);
	judge_calm(r, v);
	judge_failover(r, v);
}

/** The longest timer is over when a run ends: what is still held then is lost. */
static mf_time settle(const struct mf_config *config)
{
	mf_time longest = mf_time_max(config->tier->sw.grant_timeout[MF_CLOCK_VIRTUAL],
				      config->tier->sw.hold_timeout[MF_CLOCK_VIRTUAL]);

	if (config->tier->stack_ops != NULL)
		return 0; /* nothing is held that is known of */
	for (unsigned int i = 0; i < config->slots; i++)
		longest = mf_time_max(longest, config->node[i].host.quarantine[MF_CLOCK_VIRTUAL]);
	return 3 * longest;
}

/** @param result  what the run's result says, the caller's */
static int run_once(const char *text, const char *name, struct verdict *v, json_t **result)
{
	struct run r = {.f = NULL};
	struct mf_run_options options = {.tick = look, .tick_ctx = &r, .tick_period = TICK};
	json_t *all;
	int rc = set_up(&r, text, name, v);

	*result = NULL;
	if (rc != 0)
		return rc;
	options.settle = settle(&r.config);
	options.history = HISTORY;
	rc = mf_fabric_run(r.f, &options);
	judge_all(&r, rc, v);
	all = mf_fabric_result(r.f);
	*result = json_incref(json_object_get(all, "result"));
	count_fired(*result, v);
	judge_graph(&r.config, *result, v);
	json_decref(all);
	mf_fabric_free(r.f);
	mf_config_free(&r.config);
	return 0;
}

int judge_case(const json_t *json, const char *name, bool twice, struct verdict *v)
{
	char *text = json_dumps(json, JSON_REAL_PRECISION(15));
	json_t *first, *second = NULL;
	struct verdict again = {.reason = ""};
	int rc;

	*v = (struct verdict){.sum[SUM_TWICE] = twice};
	if (text == NULL)
		return -ENOMEM;
	rc = run_once(text, name, v, &first);
	if (rc == 0 && twice) {
		run_once(text, name, &again, &second);
		if (!json_equal(first, second))
			verdict_violation(v, "differs", "the same case gives another result the second time");
	}
	json_decref(first);
	json_decref(second);
	free(text);
	return rc;
}
