/* SPDX-License-Identifier: BSD-3-Clause */
#include "test.h"

#include <errno.h>
#include <string.h>

#define LARGE (64u << 10) /* octets: from here on the default moves so much and no more */
#define MOVED (64u << 20)

static const struct test_info info[TEST_KINDS] = {
	[TEST_READ_LAT] = {.name = "read_lat",
			   .title = "READ Latency Test",
			   .latency = true,
			   .size = 64,
			   .depth = 1,
			   .iterations = 1000,
			   .mix = MF_MIX_READ},
	[TEST_WRITE_LAT] = {.name = "write_lat",
			    .title = "WRITE Latency Test",
			    .latency = true,
			    .size = 64,
			    .depth = 1,
			    .iterations = 1000,
			    .mix = MF_MIX_WRITE},
	[TEST_ATOMIC_LAT] = {.name = "atomic_lat",
			     .title = "ATOMIC Latency Test (compare and swap)",
			     .latency = true,
			     .size = 8,
			     .depth = 1,
			     .iterations = 1000,
			     .mix = MF_MIX_CAS},
	[TEST_READ_BW] = {.name = "read_bw",
			  .title = "READ BW Test",
			  .size = 65536,
			  .depth = 16,
			  .iterations = 5000,
			  .mix = MF_MIX_READ},
	[TEST_WRITE_BW] = {.name = "write_bw",
			   .title = "WRITE BW Test",
			   .size = 65536,
			   .depth = 16,
			   .iterations = 5000,
			   .mix = MF_MIX_WRITE},
	[TEST_MIXED] = {.name = "mixed",
			.title = "Mixed Test",
			.size = 64,
			.depth = 16,
			.iterations = 5000,
			.mix = MF_MIX_READ},
	[TEST_LOADED_LATENCY] = {.name = "loaded_latency",
				 .title = "Loaded Latencies",
				 .latency = true,
				 .matrix = true,
				 .size = 64,
				 .depth = 16,
				 .mix = MF_MIX_READ},
	[TEST_BANDWIDTH_MATRIX] = {.name = "bandwidth_matrix",
				   .title = "Bandwidth Matrix",
				   .matrix = true,
				   .size = 65536,
				   .depth = 16,
				   .mix = MF_MIX_READ},
};

const struct test_info *test_info(enum test_kind kind)
{
	return &info[kind];
}

int test_find(const char *name, enum test_kind *kind)
{
	for (unsigned int i = 0; i < TEST_KINDS; i++)
		if (strcmp(info[i].name, name) == 0) {
			*kind = (enum test_kind)i;
			return 0;
		}
	return -ENOENT;
}

uint32_t test_size(const struct test *t)
{
	return t->size != 0 ? t->size : info[t->kind].size;
}

uint32_t test_depth(const struct test *t)
{
	return t->depth != 0 ? t->depth : info[t->kind].depth;
}

uint32_t test_clients(const struct test *t, const struct mf_config *config)
{
	uint16_t node[MF_NODES_MAX];
	unsigned int n = test_compute_nodes(t->plays, config, node);

	if (t->clients == TEST_CLIENTS_ALL || (t->clients == 0 && t->kind == TEST_BANDWIDTH_MATRIX))
		return n;
	if (t->clients != 0)
		return t->clients;
	if (t->kind == TEST_LOADED_LATENCY)
		return n > 1 ? n - 1 : 1; /* the last one probes */
	return 1;
}

uint64_t test_iterations(const struct test *t, uint32_t size)
{
	uint64_t n = info[t->kind].iterations;

	if (t->iterations != 0 || t->duration != 0 || t->forever)
		return t->iterations;
	return size >= LARGE && n > MOVED / size ? MOVED / size : n;
}

mf_time test_duration(const struct test *t, enum mf_clock clock)
{
	if (t->duration != 0)
		return t->duration;
	return clock == MF_CLOCK_VIRTUAL ? MF_MS(1) : MF_MS(200);
}

bool test_atomic(const struct test *t)
{
	double mix[MF_MIXES];

	test_mix(t, MF_CLOCK_WALL, mix);
	return mix[MF_MIX_READ] + mix[MF_MIX_WRITE] + mix[MF_MIX_WRITE_ACK] + mix[MF_MIX_CALL] == 0;
}

bool test_unacknowledged(const struct test *t, enum mf_clock clock)
{
	return t->rate == 0 && (clock == MF_CLOCK_VIRTUAL || t->kind == TEST_WRITE_BW);
}

void test_mix(const struct test *t, enum mf_clock clock, double mix[MF_MIXES])
{
	double sum = 0;

	memcpy(mix, t->mix, sizeof(t->mix));
	for (unsigned int i = 0; i < MF_MIXES; i++)
		sum += mix[i];
	if (t->kind != TEST_MIXED) {
		memset(mix, 0, sizeof(t->mix));
		mix[info[t->kind].mix] = 1;
	} else if (sum == 0) {
		mix[MF_MIX_READ] = mix[MF_MIX_WRITE] = 1;
	}
	if (!test_unacknowledged(t, clock)) {
		mix[MF_MIX_WRITE_ACK] += mix[MF_MIX_WRITE];
		mix[MF_MIX_WRITE] = 0;
	}
}

unsigned int test_compute_nodes(const struct mf_process_roles *plays, const struct mf_config *config,
				uint16_t node[MF_NODES_MAX])
{
	unsigned int n = 0;

	for (unsigned int p = 0; p < config->slots; p++)
		if (config->node[p].up && config->node[p].compute && (plays == NULL || plays->node[p]))
			node[n++] = (uint16_t)p;
	return n;
}

unsigned int test_memory_nodes(const struct mf_config *config, uint16_t node[MF_NODES_MAX])
{
	unsigned int n = 0;

	for (unsigned int p = 0; p < config->slots; p++)
		if (config->node[p].up && config->node[p].memory)
			node[n++] = (uint16_t)p;
	return n;
}
