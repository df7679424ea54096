/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes tokens of address spaces. The input says how many octets of a right token are altered, and how, or
 * it is the token. A token is refused, or names a space that can be: memory nodes with address spaces, each
 * once, and a compute node that made it. Then its token is the same, octet by octet.
 */
#include <errno.h>

#include "client/client.h"
#include "config/mf_config.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

#define RAW 0x80 /* the rest of the input is the token */
#define COMPUTE_FIRST 0 /* numbers of nodes */
#define COMPUTE 3
#define FLAT 3 /* a memory node without address spaces */
#define VIRTUAL_FIRST 4
#define VIRTUAL 70 /* more than a space has */
#define NUMBERS 8192

static const char fabric_text[] =
	"{\"nodes\": [{\"name\": \"cn\", \"role\": \"compute\", \"count\": 3},"
	"{\"name\": \"flat\", \"role\": \"memory\", \"memory\": {\"size\": \"64KiB\"}},"
	"{\"name\": \"mn\", \"role\": \"memory\", \"count\": 70,"
	"\"memory\": {\"type\": \"virtual\", \"pages\": \"4KiB\", \"size\": \"64KiB\", \"spaces\": 16}}]}";

static struct mf_config config;

static void load(void)
{
	char err[256];

	if (config.slots > 0)
		return;
	if (mf_config_parse(fabric_text, strlen(fabric_text), "fabric", &config, err, sizeof(err)) != 0) {
		fprintf(stderr, "%s\n", err);
		abort();
	}
}

/** A space that can be, of the input's choice. */
static struct memfab_space choose(struct input *in)
{
	unsigned int first = (unsigned int)take(in, 1), step = 1 + 2 * (unsigned int)(take(in, 1) % 16);
	struct memfab_space s = {.maker = (uint16_t)(COMPUTE_FIRST + take(in, 1) % COMPUTE),
				 .of_maker = (uint16_t)(1 + take(in, 2) % (NUMBERS - 1)),
				 .nodes = 1 + (unsigned int)take(in, 1) % MEMFAB_SPACE_NODES};

	while (step % 5 == 0 || step % 7 == 0) /* VIRTUAL is 2 * 5 * 7: no node comes twice */
		step += 2;
	for (unsigned int k = 0; k < s.nodes; k++)
		s.node[k] = (uint16_t)(VIRTUAL_FIRST + (first + k * step) % VIRTUAL);
	return s;
}

static void check_good(const struct memfab_space *s, const struct memfab_token *t)
{
	struct memfab_token again;

	require(s->nodes >= 1 && s->nodes <= MEMFAB_SPACE_NODES);
	require(s->maker < COMPUTE_FIRST + COMPUTE && s->of_maker > 0 && s->of_maker < NUMBERS);
	for (unsigned int k = 0; k < s->nodes; k++) {
		require(s->node[k] >= VIRTUAL_FIRST && s->node[k] < VIRTUAL_FIRST + VIRTUAL);
		for (unsigned int i = 0; i < k; i++)
			require(s->node[i] != s->node[k]);
	}
	require(!s->own && s->attachment == NULL);
	memfab_space_token(s, &again);
	require(memcmp(&again, t, sizeof(again)) == 0);
}

static bool is_same(const struct memfab_space *a, const struct memfab_space *b)
{
	return a->maker == b->maker && a->of_maker == b->of_maker && a->nodes == b->nodes &&
	       memcmp(a->node, b->node, a->nodes * sizeof(a->node[0])) == 0;
}

static void alter(struct input *in, struct memfab_token *t, unsigned int changes)
{
	for (; changes > 0; changes--)
		t->octets[take(in, 1) % sizeof(t->octets)] ^= (uint8_t)take(in, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct input in = {input, size};
	unsigned int how = (unsigned int)take(&in, 1);
	struct memfab_token t = {{0}}, right;
	struct memfab_space s, chosen;
	int rc;

	load();
	if (how & RAW) {
		take_octets(&in, t.octets, sizeof(t.octets));
		if (space_of_token(&config, &t, &s) == 0)
			check_good(&s, &t);
		return 0;
	}
	chosen = choose(&in);
	memfab_space_token(&chosen, &right);
	t = right;
	alter(&in, &t, how);
	rc = space_of_token(&config, &t, &s);
	require(rc == 0 || rc == -EINVAL);
	if (rc == 0)
		check_good(&s, &t);
	if (memcmp(&t, &right, sizeof(t)) == 0)
		require(rc == 0 && is_same(&s, &chosen));
	else
		require(rc != 0 || !is_same(&s, &chosen));
	return 0;
}
