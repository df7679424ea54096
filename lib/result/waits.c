/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where operations wait: for their turn in the message queue, for the line to the switch, for the
 * scheduler, for the line to the node. All these waits are one behind the other, so for operations of one
 * chunk their sum, less that of an idle fabric, is by how much load makes an operation slower.
 */
#include "fabric/mf_fabric_state.h"
#include "result/mf_result.h"

/** Of all demands together, in all switches, from arrival at its scheduler to their first grant. */
static mf_time scheduler_waited(const struct mf_fabric *f)
{
	struct result_counts c;
	mf_time waited = 0;

	for (unsigned int k = 0; k < f->graph->switches; k++) {
		result_switch_counted(f->sw[k].sw, &c);
		waited += result_value(&c, "switch.more", "waited_ps");
	}
	return waited;
}

json_t *waits_json(const struct mf_fabric *f, const struct snapshot *end, unsigned int nodes)
{
	mf_time queue = 0, up = 0, down = 0, between = 0, direct = 0;
	uint64_t operations = 0;
	json_t *o = json_object();
	double each;

	for (uint32_t i = 0; i < fabric_host_ends(f); i++)
		*(i < f->node_links ? &up : &direct) += end->host[i].waited;
	for (unsigned int i = 0; i < f->nodes; i++) {
		queue += end->stack[i].waited;
		if (f->node[i].client != NULL)
			operations += mf_client_stats(f->node[i].client)->begun_all;
	}
	for (unsigned int n = 0; n < fabric_ports(f); n++)
		*(n < nodes ? &down : &between) += end->port[n].waited;
	each = operations > 0 ? 1e-3 / (double)operations : 0;
	result_real(o, "message_queue_ns", (double)queue * each);
	result_real(o, "line_to_switch_ns", (double)up * each);
	result_real(o, "scheduler_ns", (double)scheduler_waited(f) * each);
	result_real(o, "line_from_switch_ns", (double)down * each);
	if (f->graph->links > f->node_links + fabric_directs(f) && f->trunk != NULL)
		result_real(o, "lines_between_switches_ns", (double)between * each);
	if (fabric_directs(f) > 0)
		result_real(o, "lines_between_nodes_ns", (double)direct * each);
	return o;
}
