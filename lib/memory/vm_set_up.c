/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and frees the fast path of a virtual memory, and tells how it stands. */
#include <errno.h>
#include <stdlib.h>

#include "memory/map.h"
#include "memory/vm.h"

#define HOST_PAGE (UINT64_C(2) << 20) /* octets; a mapping is a multiple of it */
#define OCTETS_MAX (UINT64_C(1) << 46) /* 64 TiB: half of what a process can map */

int mf_vm_layout(const struct mf_vm_config *config, struct mf_vm_layout *out)
{
	*out = (struct mf_vm_layout){.pages = 0};
	for (unsigned int c = 0; c < MF_PAGE_CLASSES; c++) {
		const struct mf_vm_class *from = &config->page_class[c];
		uint64_t size = UINT64_C(1) << from->shift % 64;

		if (from->pages == 0)
			continue;
		if (from->shift < MF_PAGE_SHIFT_MIN || from->shift > MF_PAGE_SHIFT_MAX ||
		    from->pages > (UINT64_C(1) << 32) - out->pages || from->pages > OCTETS_MAX / size)
			return -EINVAL;
		out->octets = (out->octets + size - 1) / size * size;
		out->of[c].shift = from->shift;
		out->of[c].first = (uint32_t)out->pages;
		out->of[c].pages = from->pages;
		out->of[c].at = out->octets;
		out->pages += from->pages;
		out->octets += from->pages * size;
	}
	return out->pages > 0 && out->octets <= OCTETS_MAX ? 0 : -EINVAL;
}

struct mf_vm_queue *mf_vm_queue_new(uint32_t size)
{
	struct mf_vm_queue *q;

	if (size == 0 || size > MF_VM_QUEUE_MAX) {
		errno = EINVAL;
		return NULL;
	}
	q = calloc(1, sizeof(*q) + size * sizeof(q->item[0]));
	if (q != NULL)
		q->size = size;
	return q;
}

static bool make_ready(struct mf_vm *v)
{
	for (unsigned int c = 0; c < MF_PAGE_CLASSES; c++) {
		if (v->layout.of[c].pages == 0)
			continue;
		v->ready[c].ring = mf_page_ring_new(v->config.ring);
		v->ready[c].supply = true;
		if (v->ready[c].ring == NULL)
			return false;
	}
	return true;
}

static uint64_t slots(const struct mf_vm_config *c)
{
	return (uint64_t)MF_PORTS_MAX * c->node_tasks;
}

static bool make_lists(struct mf_vm *v)
{
	v->known = calloc(1 << VM_KNOWN_BITS, sizeof(*v->known));
	v->asked = calloc(slots(&v->config), sizeof(*v->asked));
	v->node = calloc(MF_PORTS_MAX, sizeof(*v->node));
	return v->known != NULL && v->asked != NULL && v->node != NULL;
}

/**
 * PAGE_BACKs that may be in the queue. When the oldest of them was put in, at most .pins pages were held.
 * What was unmapped since then is of a REMOVE whose REMOVED is in the queue, too.
 */
static uint32_t pages_back(const struct mf_vm_config *c)
{
	return c->pins + MF_VM_REMOVES * MF_VM_ITEM_PAGES;
}

/** What depends on secrets. */
static bool make_keyed(struct mf_vm *v)
{
	const struct mf_vm_config *c = &v->config;
	struct mf_page_shape_config sc = {.pages = v->layout.pages, .slots = c->slots, .bucket = c->bucket};
	const struct mf_tlb_config tc = {.sets = c->tlb_sets, .ways = c->tlb_ways, .key = c->secrets.tlb};
	struct mf_page_shape shape;
	int rc;

	for (int i = 0; i < 2 * MF_PAGE_MIX_ROUNDS; i++)
		sc.key[i] = c->secrets.mix[i];
	rc = mf_page_shape_init(&shape, &sc);
	if (rc != 0) {
		errno = -rc;
		return false;
	}
	v->table = mf_page_table_new(&shape, c->huge_pages);
	v->tlb = v->table != NULL ? mf_tlb_new(&tc) : NULL;
	return v->tlb != NULL;
}

static bool make_parts(struct mf_vm *v)
{
	const struct mf_vm_config *c = &v->config;

	v->pins = make_keyed(v) ? mf_pins_new(c->pins) : NULL;
	if (v->pins == NULL || !make_ready(v) || !make_lists(v))
		return false;
	v->out = mf_vm_queue_new(c->tasks + MF_VM_REMOVES + MF_VM_LEASES + MF_PORTS_MAX + pages_back(c) +
				 MF_PAGE_CLASSES);
	return v->out != NULL;
}

static bool make_mappings(struct mf_vm *v)
{
	v->space_mapped = MF_SPACES * sizeof(*v->space);
	v->space = memory_map(v->space_mapped, false);
	v->mapped = (v->layout.octets + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE;
	v->octets = v->space != NULL ? memory_map(v->mapped, v->config.huge_pages) : NULL;
	return v->octets != NULL;
}

struct mf_vm *mf_vm_new(const struct mf_vm_config *config)
{
	struct mf_vm *v = calloc(1, sizeof(*v));
	int rc;

	if (v == NULL)
		return NULL;
	v->config = *config;
	rc = mf_vm_layout(config, &v->layout);
	if (rc == 0 && (config->tasks == 0 || config->tasks > MF_VM_TASKS_MAX || config->node_tasks == 0 ||
			config->node_tasks > MF_VM_NODE_TASKS_MAX || config->pins > MF_PINS_MAX ||
			config->answer > MF_CALL_MAX))
		rc = -EINVAL;
	errno = -rc;
	if (rc == 0 && make_parts(v) && make_mappings(v))
		return v;
	rc = errno;
	mf_vm_free(v);
	errno = rc;
	return NULL;
}

void mf_vm_free(struct mf_vm *v)
{
	if (v == NULL)
		return;
	for (unsigned int c = 0; c < MF_PAGE_CLASSES; c++)
		free(v->ready[c].ring);
	mf_page_table_free(v->table);
	mf_tlb_free(v->tlb);
	mf_pins_free(v->pins);
	free(v->out);
	free(v->asked);
	free(v->known);
	free(v->node);
	memory_unmap(v->space, v->space_mapped);
	memory_unmap(v->octets, v->mapped);
	free(v);
}

int mf_vm_renew(struct mf_vm *v, const struct mf_vm_secrets *secrets)
{
	v->config.secrets = *secrets;
	mf_page_table_free(v->table);
	mf_tlb_free(v->tlb);
	v->table = NULL;
	v->tlb = NULL;
	for (unsigned int i = 0; i < 1 << VM_KNOWN_BITS; i++)
		v->known[i] = (struct vm_known){0};
	return make_keyed(v) ? 0 : -ENOMEM;
}

void mf_vm_zeroes(struct mf_vm *v)
{
	v->zeroes = true;
}

uint8_t *mf_vm_octets(struct mf_vm *v)
{
	return v->octets;
}

struct mf_vm_queue *mf_vm_out(struct mf_vm *v)
{
	return v->out;
}

static uint64_t state_octets(const struct mf_vm *v)
{
	uint64_t sum = sizeof(*v) + mf_tlb_octets(v->tlb) + mf_pins_octets(v->pins) +
		       slots(&v->config) * sizeof(*v->asked) + sizeof(*v->out) +
		       (sizeof(*v->known) << VM_KNOWN_BITS) + MF_PORTS_MAX * sizeof(*v->node) +
		       (uint64_t)v->out->size * sizeof(v->out->item[0]);

	for (unsigned int c = 0; c < MF_PAGE_CLASSES; c++)
		if (v->ready[c].ring != NULL)
			sum += sizeof(*v->ready[c].ring) +
			       (uint64_t)v->config.ring * sizeof(v->ready[c].ring->page[0]);
	return sum;
}

void mf_vm_stats(const struct mf_vm *v, struct mf_vm_stats *out)
{
	struct mf_page_table_stats t = mf_page_table_stats(v->table);

	*out = v->stats;
	out->entries = t.entries;
	out->present = t.present;
	for (unsigned int c = 0; c < MF_PAGE_CLASSES; c++)
		out->ring[c] = v->ready[c].ring != NULL ? v->ready[c].ring->pages : 0;
	out->under_way = v->tasks;
	out->held = mf_pins_pages(v->pins);
	out->state_octets = state_octets(v);
}

const char *mf_vm_refusal_name(enum mf_vm_refusal reason)
{
	static const char *const names[MF_VM_REFUSALS] = {
		[MF_VM_REFUSED_NOT] = "none",  [MF_VM_REFUSED_SPACE] = "space", [MF_VM_REFUSED_KEY] = "key",
		[MF_VM_REFUSED_PAGE] = "page", [MF_VM_REFUSED_RIGHT] = "right",
	};

	return (unsigned int)reason < MF_VM_REFUSALS ? names[reason] : "?";
}
