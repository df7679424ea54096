/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of the spaces that programs name by their numbers. A key is asked for (JOIN) when it is needed, and
 * again when one was refused: its epoch may be over. One that is refused, and is still the right one, was
 * refused for something else.
 */
#include <string.h>

#include "base/mf_rng.h"
#include "spaces/spaces.h"

static uint32_t place_of(const struct spaces *s, const struct key *k)
{
	return (uint32_t)(k - s->key);
}

static struct key *set_of(const struct spaces *s, unsigned int target, uint32_t space)
{
	return &s->key[mf_hash64(space | (uint64_t)target << 32) % KEY_SETS * KEY_WAYS];
}

static bool is_of(const struct key *k, unsigned int target, uint32_t space)
{
	return k->state != KEY_NONE && k->target == target && k->space == space;
}

static struct key *find(const struct spaces *s, unsigned int target, uint32_t space, uint8_t right)
{
	struct key *set = set_of(s, target, space);

	for (unsigned int i = 0; i < KEY_WAYS; i++)
		if (is_of(&set[i], target, space) && set[i].right == right)
			return &set[i];
	return NULL;
}

/** A place for one: free, or of a key that can be asked for again. @return NULL: all are asked for */
static struct key *place(struct spaces *s, unsigned int target, uint32_t space, uint8_t right)
{
	struct key *set = set_of(s, target, space), *out = NULL;

	for (unsigned int i = 0; i < KEY_WAYS && (out == NULL || out->state != KEY_NONE); i++)
		if (set[i].state == KEY_NONE || (set[i].state == KEY_THERE && (out == NULL || i == right)))
			out = &set[i];
	if (out == NULL)
		return NULL;
	if (!out->was) {
		out->used = s->keyed;
		s->keyed = 1 + place_of(s, out);
	}
	*out = (struct key){.space = space,
			    .used = out->used,
			    .target = (uint16_t)target,
			    .right = right,
			    .state = KEY_WANTED,
			    .was = true};
	return out;
}

static void ask(struct spaces *s, struct key *k)
{
	uint32_t worker = task_worker(s, k->target);
	struct piece *p = worker != SPACES_NONE ? task_piece(s, k->target, worker, PIECE_JOIN) : NULL;

	if (p == NULL)
		return;
	p->op.kind = MF_OP_RMW;
	p->op.rmw = MF_RMW_SPACE;
	p->op.space = k->space;
	p->op.arg[0] = task_name(s, k->target, worker, MF_SPACE_JOIN);
	p->op.arg[1] = k->right;
	k->state = KEY_ASKED;
	s->stats.joins++;
	piece_go(s, p);
}

uint8_t key_get(struct spaces *s, unsigned int target, uint32_t space, uint8_t right, uint64_t *key)
{
	struct key *k = s->last_key;

	/* The one before, most often. */
	if (k->state == KEY_THERE && k->right == right && k->space == space && k->target == target) {
		*key = k->key;
		return MF_OK;
	}
	k = find(s, target, space, right);
	if (k == NULL)
		k = place(s, target, space, right);
	if (k == NULL)
		return MF_ERR_PENDING;
	s->last_key = k;
	if (k->state == KEY_FAILED)
		return (uint8_t)k->key;
	if (k->state == KEY_WANTED)
		ask(s, k);
	*key = k->key;
	return k->state == KEY_THERE ? MF_OK : MF_ERR_PENDING;
}

void key_put(struct spaces *s, unsigned int target, uint32_t space, uint8_t right, uint64_t key)
{
	struct key *k = find(s, target, space, right);

	if (k == NULL)
		k = place(s, target, space, right);
	if (k == NULL || k->state == KEY_ASKED || k->state == KEY_FAILED)
		return;
	k->key = key;
	k->state = KEY_THERE;
}

void key_refused(struct spaces *s, unsigned int target, uint32_t space, uint8_t right, uint64_t key)
{
	struct key *k = find(s, target, space, right);

	if (k != NULL && k->state == KEY_THERE && k->key == key)
		k->state = KEY_WANTED;
}

void keys_forget(struct spaces *s, unsigned int target, uint32_t space)
{
	struct key *set = set_of(s, target, space);

	for (unsigned int i = 0; i < KEY_WAYS; i++)
		if (is_of(&set[i], target, space) && set[i].state == KEY_THERE)
			set[i].state = KEY_NONE;
}

void keys_forget_target(struct spaces *s, uint32_t target)
{
	for (uint32_t i = s->keyed; i != 0; i = s->key[i - 1].used)
		if (s->key[i - 1].state == KEY_THERE && s->key[i - 1].target == target)
			s->key[i - 1].state = KEY_NONE;
}

void key_answered(struct spaces *s, const struct piece *p, uint8_t status, uint64_t result)
{
	struct key *k = find(s, s->target_of[p->op.node], p->op.space, (uint8_t)p->op.arg[1]);

	s->look = true;
	if (k == NULL || k->state != KEY_ASKED)
		return; /* this node has crashed since */
	if (p->former) { /* it may be of a target that is no more */
		k->state = KEY_WANTED;
		return;
	}
	k->key = status == MF_OK ? result : status;
	k->state = status == MF_OK ? KEY_THERE : KEY_FAILED;
	if (status == MF_OK)
		return;
	k->next = s->failed;
	s->failed = place_of(s, k);
}

bool key_renews(const struct spaces *s, const struct key *k)
{
	const struct key *set = &s->key[place_of(s, k) / KEY_WAYS * KEY_WAYS];

	if (k->state != KEY_THERE)
		return false;
	for (; set < k; set++)
		if (set->state == KEY_THERE && set->space == k->space && set->target == k->target)
			return false;
	return true;
}

void keys_looked(struct spaces *s)
{
	while (s->failed != SPACES_NONE) {
		struct key *k = &s->key[s->failed];

		s->failed = k->next;
		k->state = KEY_NONE;
	}
}
