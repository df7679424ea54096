/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "memory" of the type "virtual" (docs/memory.md): pages, tables, and its slow path. And where the clients of
 * a workload are in such memories: "spaces", "pages" and so on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/cfg_write.h"
#include "memory/mf_call.h"
#include "memory/mf_page_ring.h"
#include "memory/mf_page_shape.h"
#include "memory/mf_pins.h"
#include "memory/mf_ranges.h"
#include "memory/mf_tlb.h"

#define VM(m) CFG_AT(struct mf_vm_timed_config, vm.m)
static const struct cfg_field vm_fields[] = {
	{.key = "slots", .kind = CFG_U32, VM(slots), CFG_RANGE(1, 64)},
	{.key = "bucket", .kind = CFG_U32, VM(bucket), CFG_RANGE(1, 64), .pow2 = true},
	{.key = "ring", .kind = CFG_U32, VM(ring), CFG_RANGE(1, MF_PAGE_RING_MAX)},
	{.key = "pins", .kind = CFG_U32, VM(pins), CFG_RANGE(1, MF_PINS_MAX)},
	{.key = "spaces", .kind = CFG_U32, VM(spaces), CFG_RANGE(1, MF_SPACES)},
	{.key = "ranges", .kind = CFG_U32, VM(ranges), CFG_RANGE(1, MF_RANGES_OF_POOL_MAX)},
	{.key = "tasks", .kind = CFG_U32, VM(tasks), CFG_RANGE(1, MF_VM_TASKS_MAX)},
	{.key = "node_tasks", .kind = CFG_U32, VM(node_tasks), CFG_RANGE(1, MF_VM_NODE_TASKS_MAX)},
	{.key = "retries", .kind = CFG_U32, VM(retries_max), CFG_RANGE(0, 1 << 20)},
	{.key = "answer",
	 .kind = CFG_SIZE32,
	 CFG_AT(struct mf_vm_timed_config, answer),
	 CFG_RANGE(MF_CALL_UNIT, MF_CALL_MAX),
	 .multiple = MF_CALL_UNIT},
	{.key = "fault", .kind = CFG_TIME, VM(fault), CFG_RANGE(0, MF_SEC(1))},
	{.key = "lease",
	 .kind = CFG_TIME,
	 CFG_AT(struct mf_vm_timed_config, lease),
	 CFG_RANGE(0, MF_SEC(86400)),
	 .per_clock = true},
	{0},
};

static const struct cfg_field tlb_fields[] = {
	{.key = "sets",
	 .kind = CFG_U32,
	 CFG_AT(struct mf_vm_timed_config, tlb_sets),
	 CFG_RANGE(1, 1 << 20),
	 .pow2 = true,
	 .per_clock = true},
	{.key = "ways", .kind = CFG_U32, VM(tlb_ways), CFG_RANGE(1, MF_TLB_WAYS_MAX)},
	{0},
};

#define SLOW(m) CFG_AT(struct mf_vm_timed_config, m)
static const struct cfg_field slow_fields[] = {
	{.key = "step", .kind = CFG_TIME, SLOW(step), CFG_RANGE(0, MF_SEC(1))},
	{.key = "zero", .kind = CFG_TIME, SLOW(zero), CFG_RANGE(0, MF_SEC(1))},
	{.key = "crossing", .kind = CFG_TIME, SLOW(crossing), CFG_RANGE(0, MF_SEC(1))},
	{0},
};

static const struct cfg_field nested_fields[] = {{.key = "pages", .kind = CFG_NESTED},
						 {.key = "tlb", .kind = CFG_NESTED},
						 {.key = "slow", .kind = CFG_NESTED},
						 {0}};

const struct mf_vm_timed_config cfg_vm_default = {
	.vm = {.slots = 2,
	       .bucket = 16,
	       .tlb_ways = 16,
	       .ring = 64,
	       .pins = 1024,
	       .tasks = 1024,
	       .node_tasks = 16,
	       .spaces = 1 << 14,
	       .ranges = 1 << 17,
	       .retries_max = 60,
	       .fault = MF_NS(12)},
	.step = MF_NS(20),
	.zero = MF_NS(400),
	.crossing = MF_NS(100),
	.lease = {[MF_CLOCK_WALL] = MF_SEC(10)},
	/* The paper's Figure 5 has its step at 16; a CPU has room for more. */
	.tlb_sets = {[MF_CLOCK_WALL] = 64, [MF_CLOCK_VIRTUAL] = 1},
	.answer = 4096 - MF_CALL_HEAD, /* of a chunk */
};

/** The keys of this type, for who reads an object with keys of all types. */
void cfg_vm_known(struct cfg_field *more)
{
	unsigned int n = 0;

	for (const struct cfg_field *f = vm_fields; f->key != NULL; f++)
		more[n++] = *f;
	for (const struct cfg_field *f = nested_fields; f->key != NULL; f++)
		more[n++] = *f;
	more[n] = (struct cfg_field){0};
}

int cfg_vm_refuse(struct cfg *c, const json_t *json)
{
	struct cfg_field keys[CFG_VM_KEYS];

	cfg_vm_known(keys);
	for (const struct cfg_field *f = keys; f->key != NULL; f++)
		if (json_object_get(json, f->key) != NULL)
			return cfg_fail_key(c, f->key, "has no effect: the memory's type is not \"virtual\"");
	return 0;
}

static int page_shift(struct cfg *c, const char *name, unsigned int *shift)
{
	uint64_t size = 0;

	if (mf_unit_size(name, &size) != 0 || size == 0 || (size & (size - 1)) != 0 ||
	    size < UINT64_C(1) << MF_PAGE_SHIFT_MIN || size > UINT64_C(1) << MF_PAGE_SHIFT_MAX)
		return cfg_fail(c, "'%.64s' is no size of a page: a power of two, 4KiB to %uMiB", name,
				(1u << MF_PAGE_SHIFT_MAX) >> 20);
	*shift = (unsigned int)__builtin_ctzll(size);
	return 0;
}

/** So many octets of pages of one size. */
static int add_class(struct cfg *c, struct mf_vm_config *vm, unsigned int page_class, unsigned int shift,
		     uint64_t octets)
{
	if (octets < UINT64_C(1) << shift || octets % (UINT64_C(1) << shift) != 0)
		return cfg_fail(c, "%" PRIu64 " octets are no whole number of pages of %" PRIu64, octets,
				UINT64_C(1) << shift);
	vm->page_class[page_class] = (struct mf_vm_class){(uint8_t)shift, octets >> shift};
	return 0;
}

/** "pages": {"4KiB": "1GiB", "4MiB": "15GiB"}: the classes in the order of their sizes. */
static int read_classes(struct cfg *c, const json_t *json, struct mf_vm_config *vm, uint64_t *size)
{
	uint64_t octets[64] = {0};
	unsigned int classes = 0, shift = 0;
	const char *key;
	json_t *value;

	if (json_object_size(json) == 0 || json_object_size(json) > MF_PAGE_CLASSES)
		return cfg_fail(c, "has %zu sizes of pages, there may be 1 to %u", json_object_size(json),
				MF_PAGE_CLASSES);
	json_object_foreach((json_t *)(uintptr_t)json, key, value) {
		int rc = page_shift(c, key, &shift);

		if (rc == 0 && octets[shift] != 0)
			rc = cfg_fail_key(c, key, "is there twice");
		cfg_push(c, key);
		if (rc == 0)
			rc = cfg_size(c, value, 4096, CFG_MEMORY_MAX, &octets[shift]);
		cfg_pop(c);
		if (rc != 0)
			return rc;
	}
	*size = 0;
	for (shift = 0; shift < 64; shift++) {
		int rc;

		if (octets[shift] == 0)
			continue;
		rc = add_class(c, vm, classes++, shift, octets[shift]);
		if (rc != 0)
			return rc;
		*size += octets[shift];
	}
	return *size <= CFG_MEMORY_MAX ? 0 : cfg_fail(c, "are more than 16TiB in all");
}

/** The size of all pages, or sizes of several, with how much there is of each. */
static int read_pages(struct cfg *c, const json_t *json, struct mf_vm_config *vm, bool size_given,
		      uint64_t *size)
{
	unsigned int shift = 22;
	int rc;

	if (json != NULL && !json_is_string(json) && !json_is_object(json))
		return cfg_fail(c, "must be a size such as \"4MiB\", or an object such as "
				   "{\"4KiB\": \"1GiB\", \"4MiB\": \"15GiB\"}");
	memset(vm->page_class, 0, sizeof(vm->page_class));
	if (json_is_object(json)) {
		if (size_given)
			return cfg_fail(c, "says how much there is of each size: 'size' has no effect");
		return read_classes(c, json, vm, size);
	}
	rc = json != NULL ? page_shift(c, json_string_value(json), &shift) : 0;
	return rc == 0 ? add_class(c, vm, 0, shift, *size) : rc;
}

static int read_nested(struct cfg *c, const json_t *json, const char *key, const struct cfg_field *fields,
		       struct mf_vm_timed_config *vm)
{
	const json_t *value = json_object_get(json, key);
	int rc;

	if (value == NULL)
		return 0;
	cfg_push(c, key);
	rc = cfg_object(c, value, fields, vm);
	cfg_pop(c);
	return rc;
}

/** That the tables can be made. */
static int check_shape(struct cfg *c, const struct mf_vm_config *vm)
{
	struct mf_page_shape_config sc = {.slots = vm->slots, .bucket = vm->bucket};
	struct mf_page_shape shape;

	for (unsigned int i = 0; i < MF_PAGE_CLASSES; i++)
		sc.pages += vm->page_class[i].pages;
	if (mf_page_shape_init(&shape, &sc) != 0)
		return cfg_fail_key(c, "bucket",
				    "%u slots, with 'slots' %u and %" PRIu64 " pages: there is no such table",
				    vm->bucket, vm->slots, sc.pages);
	if (vm->node_tasks > vm->tasks)
		return cfg_fail_key(c, "node_tasks", "%u are more than there may be in all, %u",
				    vm->node_tasks, vm->tasks);
	return 0;
}

int cfg_vm_read(struct cfg *c, const json_t *json, struct mf_vm_timed_config *vm, uint64_t *size)
{
	const json_t *pages = json_object_get(json, "pages");
	bool size_given = json_object_get(json, "size") != NULL;
	int rc = cfg_read(c, json, vm_fields, vm);

	if (rc == 0)
		rc = read_nested(c, json, "tlb", tlb_fields, vm);
	if (rc == 0)
		rc = read_nested(c, json, "slow", slow_fields, vm);
	/* What was read of the defaults of all nodes stays where a node says nothing else. */
	if (rc == 0 && (pages != NULL || size_given || vm->vm.page_class[0].pages == 0)) {
		cfg_push(c, pages != NULL ? "pages" : "size");
		rc = read_pages(c, pages, &vm->vm, size_given, size);
		cfg_pop(c);
	}
	return rc == 0 ? check_shape(c, &vm->vm) : rc;
}

/* ---- the fabric around it ---- */

const struct mf_config_node *cfg_vm_any(const struct mf_config *config)
{
	for (unsigned int i = 0; i < config->slots; i++)
		if (config->node[i].up && mf_config_is_virtual(&config->node[i]))
			return &config->node[i];
	return NULL;
}

/** The slow path of a node is a role with a name of its own, and no node is called so. */
static int check_names(struct cfg *c)
{
	const struct mf_config *config = c->config;
	char name[MF_CONFIG_NAME_LEN + 8];

	for (unsigned int i = 0; i < config->slots; i++) {
		const struct mf_config_node *n = &config->node[i];

		if (!n->up || !mf_config_is_virtual(n))
			continue;
		snprintf(name, sizeof(name), "%s" MF_CONFIG_SLOW_PATH, n->name);
		if (strlen(name) >= MF_CONFIG_NAME_LEN)
			return cfg_fail_key(c, "nodes",
					    "the name of the slow path of a node, '%s', is too long", name);
		if (mf_config_node(config, name) >= 0)
			return cfg_fail_key(c, "nodes", "'%s' is the name of the slow path of node '%s'",
					    name, n->name);
	}
	return 0;
}

/** What goes with memory that has spaces: EDM's messages alone say which, by one switch. */
int cfg_vm_fabric(struct cfg *c, const json_t *root)
{
	const struct mf_config_node *n = cfg_vm_any(c->config);
	const char *name = n != NULL ? n->name : "";

	if (n == NULL && c->client)
		return cfg_fail_key(c, "timing", "'client' needs memory of the type \"virtual\"");
	if (n == NULL)
		return 0;
	if (c->config->tiers > 1 || c->tier->stack_ops != NULL || c->tier->bridge_ops != NULL)
		return cfg_fail_key(c, "nodes",
				    "'%s' has memory of the type \"virtual\": that needs a file with "
				    "one tier, of EDM's stack",
				    name);
	if (c->config->backup.on)
		return cfg_fail_key(c, "backup",
				    "goes with memory of the type \"virtual\" (node '%s') not yet", name);
	if (json_object_get(root, "regions") != NULL)
		return cfg_fail_key(c, "regions",
				    "node '%s' has memory of the type \"virtual\", which has spaces", name);
	if (c->once == MF_NO)
		return cfg_fail_key(
			c, "host",
			"once is false: the keys of memory of the type \"virtual\" (node '%s') are in "
			"what it adds to messages",
			name);
	c->tier->proto.ext = true;
	return check_names(c);
}

/* ---- of a workload ---- */

#define WORK(m) CFG_AT(struct mf_config_workload, m)
const struct cfg_field cfg_spaces_fields[] = {
	{.key = "spaces", .kind = CFG_U32, WORK(spaces.spaces), CFG_RANGE(1, CFG_SPACES_OF_NODE)},
	{.key = "pages", .kind = CFG_U64, WORK(spaces.pages), CFG_RANGE(1, UINT64_C(1) << 32)},
	{.key = "page",
	 .kind = CFG_SIZE64,
	 WORK(spaces.page),
	 CFG_RANGE(4096, UINT64_C(1) << MF_PAGE_SHIFT_MAX)},
	{.key = "interleave",
	 .kind = CFG_SIZE64,
	 WORK(spaces.interleave),
	 CFG_RANGE(8, UINT64_C(1) << MF_PAGE_SHIFT_MAX),
	 .pow2 = true},
	{.key = "populate", .kind = CFG_BOOL, WORK(spaces.populate)},
	{.key = "range", .kind = CFG_U32, WORK(spaces.range), CFG_RANGE(1, 1 << 20)},
	{.key = "churn", .kind = CFG_REAL, WORK(spaces.churn), .rlo = 0, .rhi = 1},
	{0},
};

#define CFG_PLACE 64 /* of operations in their region: CHOOSE_ALIGN */

static int find_class(const struct mf_vm_config *vm, uint64_t page)
{
	for (int i = 0; i < MF_PAGE_CLASSES; i++)
		if (vm->page_class[i].pages > 0 &&
		    (page == 0 || UINT64_C(1) << vm->page_class[i].shift == page))
			return i;
	return -1;
}

/** Each target has pages of that size: of the least one where the file does not say which. */
static int check_page(struct cfg *c, struct mf_config_workload *w)
{
	for (unsigned int i = 0; i < w->targets.n; i++) {
		const struct mf_config_node *n = &c->config->node[w->targets.node[i]];
		int k = find_class(&n->vm.vm, w->spaces.page);

		if (k < 0)
			return cfg_fail_key(c, "page", "node '%s' has no pages of %" PRIu64 " octets",
					    n->name, w->spaces.page);
		w->spaces.page = UINT64_C(1) << n->vm.vm.page_class[k].shift;
	}
	return 0;
}

static uint64_t pages_of(const struct mf_config_workload *w)
{
	return w->clients.n * w->spaces.spaces * w->spaces.pages;
}

/** What all clients so far have of each target. */
static int check_fits(struct cfg *c, const struct mf_config_workload *w)
{
	for (unsigned int i = 0; i < w->targets.n; i++) {
		unsigned int t = w->targets.node[i];
		const struct mf_config_node *n = &c->config->node[t];
		const struct mf_vm_class *k = &n->vm.vm.page_class[find_class(&n->vm.vm, w->spaces.page)];
		uint64_t pages = 0, spaces = 0;

		for (const struct mf_config_workload *v = c->config->workload; v <= w; v++) {
			if (!mf_config_has(&v->targets, t))
				continue;
			pages += v->spaces.page == w->spaces.page ? pages_of(v) : 0;
			spaces += (uint64_t)v->clients.n * v->spaces.spaces;
		}
		if (pages > k->pages)
			return cfg_fail_key(c, "pages",
					    "clients of node '%s' need %" PRIu64 " pages of %" PRIu64
					    " octets, it has %" PRIu64,
					    n->name, pages, w->spaces.page, k->pages);
		if (spaces > n->vm.vm.spaces)
			return cfg_fail_key(c, "spaces", "clients of node '%s' need %" PRIu64 ", it has %u",
					    n->name, spaces, n->vm.vm.spaces);
	}
	return 0;
}

/** How many of the targets have such memory, or a failure: of all of them or of none. */
static int count_targets(struct cfg *c, const struct mf_config_workload *w)
{
	int n = 0;

	for (unsigned int i = 0; i < w->targets.n; i++)
		n += mf_config_is_virtual(&c->config->node[w->targets.node[i]]);
	if (n == 0 || n == (int)w->targets.n)
		return n;
	return cfg_fail_key(c, "targets", "some have memory of the type \"virtual\", and some have not");
}

/**
 * Calls are not cut, as reads are: each is in a page. So all have one size, and their places are multiples of
 * that.
 */
static int check_calls(struct cfg *c, const struct mf_config_workload *w)
{
	uint32_t most = MF_CALL_MAX, step = (w->size.max + CFG_PLACE - 1) / CFG_PLACE * CFG_PLACE;

	if (w->mix[MF_MIX_CALL] == 0)
		return 0;
	for (unsigned int i = 0; i < w->targets.n; i++) {
		const struct mf_config_node *n = &c->config->node[w->targets.node[i]];

		if (n->vm.answer < most)
			most = n->vm.answer;
	}
	if (w->size.dist != MF_CONFIG_FIXED || w->size.max > most)
		return cfg_fail_key(c, "size", "\"call\" needs one size of at most %u octets (answer)", most);
	if (w->spaces.interleave % step != 0)
		return cfg_fail_key(c, "size",
				    "%u octets of a \"call\" would not be within %" PRIu64 " of one page",
				    w->size.max, w->spaces.interleave);
	return 0;
}

/** Of spaces that clients share and that come and go. */
static int check_churn(struct cfg *c, const json_t *json, struct mf_config_workload *w)
{
	static const char *const of_region[] = {"interleave", "populate", "range", NULL};
	int rc = cfg_refuse(c, json, of_region, "with 'churn' clients share all pages");

	if (rc == 0 && json_is_true(json_object_get(json, "verify")))
		rc = cfg_fail_key(c, "verify", "with 'churn' others write there, too: a history says more");
	w->verify = false;
	if (rc == 0 && w->trace.message != NULL)
		rc = cfg_fail_key(c, "churn", "goes with drawn operations, not with a trace");
	if (rc == 0 && w->mix[MF_MIX_WRITE] > 0)
		rc = cfg_fail_key(c, "mix",
				  "\"write\" is refused without a word where 'churn' has pages come and go: "
				  "\"write_ack\" is not");
	if (rc == 0 && w->spaces.spaces >= CFG_SPACES_OF_NODE)
		rc = cfg_fail_key(c, "spaces", "with 'churn' there may be %u at most",
				  CFG_SPACES_OF_NODE - 1);
	return rc;
}

/* The span of a client is all that it has at a target: its spaces, one after the other. */
int cfg_workload_spaces(struct cfg *c, const json_t *json, struct mf_config_workload *w)
{
	static const char *const of_flat[] = {"ycsb", NULL}, *const span[] = {"span", NULL};
	bool given = json_object_get(json, "pages") != NULL;
	int n = count_targets(c, w), rc;

	if (n < 0)
		return n;
	if (n == 0 && w->mix[MF_MIX_CALL] > 0)
		return cfg_fail_key(c, "mix", "\"call\" needs targets with memory of the type \"virtual\"");
	if (n == 0) {
		memset(&w->spaces, 0, sizeof(w->spaces));
		for (const struct cfg_field *f = cfg_spaces_fields; f->key != NULL; f++)
			if (json_object_get(json, f->key) != NULL)
				return cfg_fail_key(
					c, f->key,
					"has no effect: the targets' memory is not of the type \"virtual\"");
		return 0;
	}
	rc = cfg_refuse(c, json, of_flat, "a store needs memory of the type \"flat\" so far");
	if (rc == 0 && given)
		rc = cfg_refuse(c, json, span, "'pages' says how much that is");
	if (rc == 0)
		rc = check_page(c, w);
	if (rc != 0)
		return rc;
	if (w->spaces.interleave == 0 || w->spaces.interleave > w->spaces.page)
		w->spaces.interleave = w->spaces.page;
	rc = check_calls(c, w);
	if (rc != 0)
		return rc;
	if (!given) {
		uint64_t of_spaces = w->spaces.spaces * w->spaces.page;

		w->spaces.pages = (w->span + of_spaces - 1) / of_spaces;
	}
	w->span = w->spaces.spaces * w->spaces.pages * w->spaces.page;
	if (w->trace.addr != NULL && w->trace.end > w->span)
		return cfg_fail_key(c, "trace",
				    "its addresses are within %" PRIu64
				    " octets; 'spaces', 'pages' and 'page' make %" PRIu64,
				    w->trace.end, w->span);
	if (w->spaces.churn > 0)
		rc = check_churn(c, json, w);
	return rc == 0 ? check_fits(c, w) : rc;
}

/* ---- written ---- */

void cfg_put_vm(struct put *p, json_t *json, const struct mf_vm_timed_config *vm)
{
	json_t *pages = cfg_put_set(p, json, "pages", json_object());
	char name[MF_UNIT_LEN];

	for (unsigned int i = 0; i < MF_PAGE_CLASSES; i++) {
		const struct mf_vm_class *k = &vm->vm.page_class[i];

		if (k->pages > 0)
			cfg_put_set(p, pages, mf_unit_put_size(name, UINT64_C(1) << k->shift),
				    cfg_put_size(k->pages << k->shift));
	}
	cfg_put_fields(p, json, vm_fields, vm);
	cfg_put_fields(p, cfg_put_set(p, json, "tlb", json_object()), tlb_fields, vm);
	cfg_put_fields(p, cfg_put_set(p, json, "slow", json_object()), slow_fields, vm);
	json_object_del(json, "size");
}

void cfg_put_spaces(struct put *p, json_t *json, const struct mf_config_workload *w)
{
	static const char *const of_region[] = {"interleave", "populate", "range"};

	if (w->spaces.spaces == 0)
		return;
	cfg_put_fields(p, json, cfg_spaces_fields, w);
	json_object_del(json, "span");
	if (w->spaces.churn == 0) {
		json_object_del(json, "churn");
		return;
	}
	for (unsigned int i = 0; i < sizeof(of_region) / sizeof(of_region[0]); i++)
		json_object_del(json, of_region[i]);
}
