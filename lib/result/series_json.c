/* SPDX-License-Identifier: BSD-3-Clause */
/* The result: what links, queues and memories did in steps of time. */
#include "measure/mf_series.h"
#include "result/mf_result.h"

#define BLOCK_OCTETS 8
#define BLOCK_BITS 64.0

static void append(json_t *array, uint64_t value)
{
	json_array_append_new(array, json_integer((json_int_t)value));
}

static json_t *line_json(const struct mf_fabric *f, uint32_t i)
{
	const struct series *s = f->series;
	const struct mf_end *e = &f->graph->end[s->end[i]];
	const struct series_line *first = series_line(s, 0, i), *last = series_line(s, s->rows - 1, i);
	json_t *o = json_object(), *memory = json_array(), *frames = json_array(), *queue = json_array(),
	       *longest = json_array();

	json_object_set_new(o, "from", json_string(fabric_role_name(f, e->role)));
	json_object_set_new(o, "to", json_string(fabric_role_name(f, f->graph->end[e->peer].role)));
	if (fabric_is_trunk(f, e->link))
		result_count(o, "number", fabric_parallel(f, e->link));
	if (f->clock == MF_CLOCK_VIRTUAL)
		result_real(o, "rate_gbps", BLOCK_BITS * 1000 / f->link[e->link].period);
	result_count(o, "memory_octets_all", BLOCK_OCTETS * (last->memory_blocks - first->memory_blocks));
	result_count(o, "frame_octets_all", BLOCK_OCTETS * (last->frame_blocks - first->frame_blocks));
	for (uint32_t k = 1; k < s->rows; k++) {
		const struct series_line *from = series_line(s, k - 1, i), *to = series_line(s, k, i);

		append(memory, BLOCK_OCTETS * (to->memory_blocks - from->memory_blocks));
		append(frames, BLOCK_OCTETS * (to->frame_blocks - from->frame_blocks));
		append(queue, to->queue_octets);
		append(longest, to->queue_max_octets);
	}
	json_object_set_new(o, "memory_octets", memory);
	json_object_set_new(o, "frame_octets", frames);
	json_object_set_new(o, "queue_octets", queue);
	if (f->clock == MF_CLOCK_VIRTUAL && f->graph->role[e->role].kind == MF_VERTEX_SWITCH)
		json_object_set_new(o, "queue_max_octets", longest);
	else
		json_decref(longest);
	return o;
}

static json_t *memory_json(const struct mf_fabric *f, uint32_t i)
{
	const struct series *s = f->series;
	const struct mf_memory_use *first = series_memory(s, 0, i), *last = series_memory(s, s->rows - 1, i);
	json_t *o = json_object(), *read = json_array(), *written = json_array();

	json_object_set_new(o, "node", json_string(f->config->node[s->node[i]].name));
	result_count(o, "read_octets_all", last->read - first->read);
	result_count(o, "written_octets_all", last->written - first->written);
	for (uint32_t k = 1; k < s->rows; k++) {
		append(read, series_memory(s, k, i)->read - series_memory(s, k - 1, i)->read);
		append(written, series_memory(s, k, i)->written - series_memory(s, k - 1, i)->written);
	}
	json_object_set_new(o, "read_octets", read);
	json_object_set_new(o, "written_octets", written);
	return o;
}

json_t *series_json(const struct mf_fabric *f)
{
	const struct series *s = f->series;
	json_t *all = json_array(), *o = json_object(), *at = json_array(), *links = json_array(),
	       *memories = json_array();

	result_count(o, "every_ps", s->every);
	for (uint32_t k = 0; k < s->rows; k++)
		append(at, s->at[k]);
	json_object_set_new(o, "at_ps", at);
	for (uint32_t i = 0; i < s->lines && s->rows > 0; i++)
		json_array_append_new(links, line_json(f, i));
	json_object_set_new(o, "links", links);
	for (uint32_t i = 0; i < s->memories && s->rows > 0; i++)
		json_array_append_new(memories, memory_json(f, i));
	json_object_set_new(o, "memories", memories);
	json_array_append_new(all, o);
	return all;
}
