/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: memory with address spaces, at memory nodes and at those that ask. Only where there is such. */
#include "fabric/mf_fabric_state.h"
#include "result/mf_result.h"
#include "spaces/mf_spaces.h"

static const char *const task_names[MF_SPACE_TASKS] = {
	[MF_SPACE_MAKE] = "make",       [MF_SPACE_END] = "end",           [MF_SPACE_JOIN] = "join",
	[MF_SPACE_GRANT] = "grant",     [MF_SPACE_ALLOCATE] = "allocate", [MF_SPACE_FREE] = "free",
	[MF_SPACE_PROTECT] = "protect", [MF_SPACE_FENCE] = "fence"};

static json_t *refused_json(const uint64_t *count)
{
	json_t *o = json_object();

	for (int i = MF_VM_REFUSED_NOT + 1; i < MF_VM_REFUSALS; i++)
		result_count(o, mf_vm_refusal_name((enum mf_vm_refusal)i), count[i]);
	return o;
}

static json_t *tasks_json(const struct mf_vm_stats *fast, const struct mf_vm_slow_stats *slow)
{
	const struct {
		const char *key;
		const uint64_t *count;
	} of[] = {{"done", slow->tasks},
		  {"refused", slow->refused},
		  {"wrong", slow->wrong},
		  {"failed", slow->failed}};
	json_t *o = json_object();

	result_count(o, "begun", fast->asked);
	result_count(o, "busy", fast->ask_full);
	json_object_set_new(o, "not_begun", refused_json(fast->ask_refused));
	for (size_t k = 0; k < sizeof(of) / sizeof(of[0]); k++) {
		json_t *kind = json_object();

		for (int i = 0; i < MF_SPACE_TASKS; i++)
			result_count(kind, task_names[i], of[k].count[i]);
		json_object_set_new(o, of[k].key, kind);
	}
	result_count(o, "under_way", slow->under_way);
	return o;
}

/** How many allocations had how many retries. */
static json_t *retries_json(const struct mf_hist *h)
{
	json_t *o = json_object();

	result_count(o, "allocations", h->count);
	result_real(o, "mean", h->count > 0 ? mf_hist_mean(h) : 0);
	result_count(o, "max", h->count > 0 ? h->max : 0);
	return o;
}

static json_t *pages_json(const struct mf_vm_config *c, const struct mf_vm_stats *fast,
			  const struct mf_vm_slow_stats *slow)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < MF_PAGE_CLASSES; i++) {
		json_t *o;

		if (c->page_class[i].pages == 0)
			continue;
		o = json_object();
		result_count(o, "octets", UINT64_C(1) << c->page_class[i].shift);
		result_count(o, "all", c->page_class[i].pages);
		result_count(o, "free", slow->pages[i].free);
		result_count(o, "being_zeroed", slow->pages[i].zeroing);
		result_count(o, "in_ring", fast->ring[i]);
		result_count(o, "in_use", slow->pages[i].fast - fast->ring[i]);
		json_array_append_new(list, o);
	}
	return list;
}

/** Only where something was called. */
static void put_calls(json_t *o, const struct node *n)
{
	struct result_counts c;
	uint64_t answered, pending;
	json_t *calls;

	result_node_counted(n->host, &c);
	answered = result_value(&c, "host", "calls");
	pending = result_value(&c, "host", "calls_pending");
	if (answered + pending == 0)
		return;
	calls = json_object();
	result_count(calls, "answered", answered);
	result_count(calls, "pending", pending);
	json_object_set_new(o, "calls", calls);
}

static json_t *node_json(const struct mf_fabric *f, unsigned int i)
{
	const struct node *n = &f->node[i];
	struct mf_vm_slow_stats slow;
	struct mf_vm_stats fast;
	json_t *o = json_object(), *path = json_object();

	if (n->vm != NULL)
		mf_vm_timed_advance(n->vm, f->ended);
	mf_vm_stats(n->vm != NULL ? mf_vm_timed_fast(n->vm) : n->fast, &fast);
	mf_vm_slow_stats(n->vm != NULL ? mf_vm_timed_slow(n->vm) : mf_slow_path_slow(n->slow), &slow);
	result_count(o, "accesses", fast.refused[MF_VM_REFUSED_NOT]);
	result_count(o, "hits", fast.hits);
	result_count(o, "misses", fast.misses);
	result_count(o, "faults", fast.faults);
	result_count(o, "dry", fast.dry);
	result_count(o, "full", fast.full);
	result_count(o, "too_many_pages", fast.many);
	json_object_set_new(o, "refused", refused_json(fast.refused));
	put_calls(o, n);
	json_object_set_new(o, "tasks", tasks_json(&fast, &slow));
	json_object_set_new(o, "retries", retries_json(&slow.retries));
	json_object_set_new(o, "pages", pages_json(&f->config->node[i].vm.vm, &fast, &slow));
	if (f->config->limits.pages > 0 || f->config->limits.entries > 0) {
		json_t *limits = json_object();

		result_count(limits, "pages", fast.beyond);
		result_count(limits, "entries", slow.beyond);
		json_object_set_new(o, "beyond_limits", limits);
	}
	result_count(o, "entries", fast.entries);
	result_count(o, "slots", slow.slots);
	result_count(o, "spaces", slow.spaces);
	result_count(o, "ranges_left", slow.ranges_left);
	result_count(o, "epochs_of_rights_taken", slow.epochs);
	result_count(o, "leases_over", slow.expired);
	result_count(o, "left_by_nodes", slow.left);
	if (n->vm != NULL)
		result_count(path, "busy_ps", mf_vm_timed_busy(n->vm));
	result_count(path, "steps", slow.steps);
	result_count(path, "zeroed_octets", slow.octets);
	json_object_set_new(o, "slow_path", path);
	result_count(o, "state_octets", fast.state_octets);
	result_count(o, "strange", fast.strange + slow.strange);
	return o;
}

static json_t *spaces_json(const struct mf_fabric *f)
{
	struct mf_spaces_stats sum = {.ready = 0}, s;
	bool all = true;
	json_t *o = json_object();

	for (unsigned int i = 0; i < f->nodes; i++) {
		const struct mf_layer *l = f->node[i].layer;

		if (l == NULL || l->ops != &mf_spaces_layer)
			continue;
		mf_spaces_stats(l, &s);
		sum.ready += s.ready;
		sum.failed += s.failed;
		all &= s.ready_at != 0 || s.ready + s.failed == 0;
		sum.ready_at = mf_time_max(sum.ready_at, s.ready_at);
		sum.asked += s.asked;
		sum.asked_again += s.asked_again;
		sum.joins += s.joins;
		sum.renewed += s.renewed;
		sum.waited += s.waited;
		sum.given_up += s.given_up;
		mf_hist_merge(&sum.allocations, &s.allocations);
	}
	result_count(o, "ready", sum.ready);
	result_count(o, "failed", sum.failed);
	json_object_set_new(o, "ready_at_ps", all ? json_integer((json_int_t)sum.ready_at) : json_null());
	result_count(o, "asked", sum.asked);
	result_count(o, "asked_again", sum.asked_again);
	result_count(o, "joins", sum.joins);
	result_count(o, "leases_renewed", sum.renewed);
	result_count(o, "waited_for_pages", sum.waited);
	result_count(o, "given_up", sum.given_up);
	json_object_set_new(o, "allocations", result_hist(&sum.allocations));
	return o;
}

void virtual_memory_json(const struct mf_fabric *f, json_t *o)
{
	json_t *nodes = json_object();

	for (unsigned int i = 0; i < f->nodes; i++)
		if (f->node[i].vm != NULL || f->node[i].fast != NULL)
			json_object_set_new(nodes, f->config->node[i].name, node_json(f, i));
	if (json_object_size(nodes) == 0) {
		json_decref(nodes);
		return;
	}
	json_object_set_new(o, "memory", nodes);
	json_object_set_new(o, "spaces", spaces_json(f));
}
