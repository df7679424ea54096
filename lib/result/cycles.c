/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the result: the cycle account, in cycles of the time stamp counter. */
#include "fabric/mf_fabric_state.h"
#include "measure/mf_cycle_account.h"
#include "result/mf_result.h"

static uint64_t total_of(const struct mf_cycles *c)
{
	uint64_t sum = c->away;

	for (unsigned int s = 0; s < MF_CYCLES_STAGES; s++)
		sum += c->at[s].self;
	return sum;
}

static uint64_t operations(const struct mf_fabric *f)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < f->nodes; i++)
		for (unsigned int k = 0; k < MF_CLIENT_KINDS && f->node[i].client != NULL; k++)
			sum += mf_client_stats(f->node[i].client)->kind[k].completed;
	return sum;
}

static uint64_t net(const struct cycles_account *a, unsigned int stage)
{
	return (uint64_t)mf_cycles_net(&a->found, (enum mf_cycles_stage)stage, a->cost);
}

static json_t *stage_json(const struct cycles *c, unsigned int stage, uint64_t *calls, uint64_t *cycles)
{
	json_t *o = json_object(), *each = json_array();

	*calls = *cycles = 0;
	for (unsigned int i = 0; i < c->lcores; i++) {
		uint64_t n = net(&c->account[i], stage);

		*calls += c->account[i].found.at[stage].calls;
		*cycles += n;
		json_array_append_new(each, json_integer((json_int_t)n));
	}
	json_object_set_new(o, "stage", json_string(mf_cycles_name((enum mf_cycles_stage)stage)));
	result_count(o, "calls", *calls);
	result_count(o, "cycles", *cycles);
	json_object_set_new(o, "lcore_cycles", each);
	return o;
}

/** @return cycles of all stages together */
static uint64_t stages_json_of(const struct cycles *c, json_t *stages)
{
	uint64_t sum = 0, calls, cycles;

	for (unsigned int s = MF_CYCLES_NONE + 1; s < MF_CYCLES_STAGES; s++) {
		json_t *stage = stage_json(c, s, &calls, &cycles);

		sum += cycles;
		if (calls > 0)
			json_array_append(stages, stage);
		json_decref(stage);
	}
	return sum;
}

void cycles_json(const struct mf_fabric *f, json_t *run)
{
	json_t *o, *lcores, *stages;
	uint64_t total = 0, other = 0, away = 0;

	if (f->cycles == NULL)
		return;
	o = json_object();
	lcores = json_array();
	stages = json_array();
	for (unsigned int i = 0; i < f->cycles->lcores; i++) {
		total += total_of(&f->cycles->account[i].found);
		away += f->cycles->account[i].found.away;
		other += net(&f->cycles->account[i], MF_CYCLES_NONE);
		json_array_append_new(lcores, json_integer(f->cycles->account[i].lcore));
	}
	result_count(o, "operations", operations(f));
	json_object_set_new(o, "lcores", lcores);
	result_count(o, "sum", stages_json_of(f->cycles, stages));
	json_object_set_new(o, "stages", stages);
	result_count(o, "outside", other);
	result_count(o, "away", away);
	result_count(o, "measured", total);
	json_object_set_new(run, "cycles", o);
}
