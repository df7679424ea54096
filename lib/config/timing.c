/* SPDX-License-Identifier: BSD-3-Clause */
/* "timing": what each stage costs (3.2.1, 3.2.2, Table 1), by profile and stage by stage. */
#include <errno.h>
#include <string.h>

#include "config/cfg.h"

#define STAGES MF_STAGE_PMA /* those that are counted in cycles */

struct timing_in {
	uint32_t cycles[STAGES];
	mf_time cycle, pma, protocol, dram, client;
};

struct profile {
	const char *name;
	struct timing_in timing;
};

/* EDM's, of the PHY (3.2.1, 3.2.2). */
#define PHY_STAGES                                                                                           \
	.cycles = {                                                                                          \
		[MF_STAGE_MESSAGE_QUEUE] = 1,     [MF_STAGE_MAKE_REQUEST] = 1,  [MF_STAGE_GRANT_QUEUE] = 4,  \
		[MF_STAGE_STATE_TABLE] = 1,       [MF_STAGE_DATA_BUFFER] = 1,   [MF_STAGE_MAKE_DATA] = 1,    \
		[MF_STAGE_GRANT_PARSE] = 1,       [MF_STAGE_GRANT_ENQUEUE] = 1, [MF_STAGE_RREQ_PARSE] = 2,   \
		[MF_STAGE_MEMORY_CONTROLLER] = 1, [MF_STAGE_DATA_PARSE] = 1,    [MF_STAGE_DATA_ADDRESS] = 1, \
		[MF_STAGE_DATA_DELIVER] = 1,      [MF_STAGE_IDENTIFY] = 1,      [MF_STAGE_MAKE_GRANT] = 1,   \
		[MF_STAGE_FORWARD] = 4,           [MF_STAGE_PCS_TX] = 2,        [MF_STAGE_PCS_RX] = 2,       \
	}
#define MAC_AND_PCS .cycles = {[MF_STAGE_PCS_TX] = 3, [MF_STAGE_PCS_RX] = 3, [MF_STAGE_MAC] = 3}

static const struct profile profiles[] = {
	{"testbed25", {PHY_STAGES, .cycle = 2560, .pma = MF_NS(19), .dram = MF_NS(82)}},
	/* Table 1: 7.68 ns a crossing of MAC and PCS; the stack above at each end and direction. */
	{"ethernet", {MAC_AND_PCS, .cycle = 2560, .pma = MF_NS(19), .dram = MF_NS(82)}},
	{"rocev2", {MAC_AND_PCS, .cycle = 2560, .pma = MF_NS(19), .protocol = 230200, .dram = MF_NS(82)}},
	{"tcp", {MAC_AND_PCS, .cycle = 2560, .pma = MF_NS(19), .protocol = 666200, .dram = MF_NS(82)}},
	/*
	 * Our choice (docs/systems/cxl.md): 25 ns there and back for a port with its PHY, so half of it each
	 * way at each end. The switch's ports are in its latency.
	 */
	{"cxl", {.cycle = 2560, .protocol = 12500, .dram = MF_NS(82)}},
	{"zero", {.cycle = 2560}},
	/* EDM's stages at the clock of Clio's board (its section 5), and the time of its client (7.1). */
	{"clio-fpga", {PHY_STAGES, .cycle = 4000, .pma = MF_NS(19), .dram = MF_NS(82), .client = MF_NS(250)}},
};
#define PROFILES (sizeof(profiles) / sizeof(profiles[0]))

const char *const cfg_stage_names[STAGES + 1] = {
	[MF_STAGE_MESSAGE_QUEUE] = "message_queue",
	[MF_STAGE_MAKE_REQUEST] = "make_request",
	[MF_STAGE_GRANT_QUEUE] = "grant_queue",
	[MF_STAGE_STATE_TABLE] = "state_table",
	[MF_STAGE_DATA_BUFFER] = "data_buffer",
	[MF_STAGE_MAKE_DATA] = "make_data",
	[MF_STAGE_GRANT_PARSE] = "grant_parse",
	[MF_STAGE_GRANT_ENQUEUE] = "grant_enqueue",
	[MF_STAGE_RREQ_PARSE] = "rreq_parse",
	[MF_STAGE_MEMORY_CONTROLLER] = "memory_controller",
	[MF_STAGE_DATA_PARSE] = "data_parse",
	[MF_STAGE_DATA_ADDRESS] = "data_address",
	[MF_STAGE_DATA_DELIVER] = "data_deliver",
	[MF_STAGE_IDENTIFY] = "identify",
	[MF_STAGE_MAKE_GRANT] = "make_grant",
	[MF_STAGE_FORWARD] = "forward",
	[MF_STAGE_PCS_TX] = "pcs_tx",
	[MF_STAGE_PCS_RX] = "pcs_rx",
	[MF_STAGE_MAC] = "mac",
};

/* The table of the object: the stages by their names, and the rest. */
static void make_table(struct cfg_field table[STAGES + 7])
{
	static const struct cfg_field rest[] = {
		{.key = "profile", .kind = CFG_NESTED},
		{.key = "cycle", .kind = CFG_TIME, CFG_AT(struct timing_in, cycle), CFG_RANGE(1, MF_US(1))},
		{.key = "pma", .kind = CFG_TIME, CFG_AT(struct timing_in, pma), CFG_RANGE(0, MF_MS(1))},
		{.key = "protocol",
		 .kind = CFG_TIME,
		 CFG_AT(struct timing_in, protocol),
		 CFG_RANGE(0, MF_MS(1))},
		{.key = "dram", .kind = CFG_TIME, CFG_AT(struct timing_in, dram), CFG_RANGE(0, MF_SEC(1))},
		{.key = "client", .kind = CFG_TIME, CFG_AT(struct timing_in, client), CFG_RANGE(0, MF_MS(1))},
		{0},
	};

	for (size_t i = 0; i < STAGES; i++)
		table[i] = (struct cfg_field){.key = cfg_stage_names[i],
					      .kind = CFG_U32,
					      .offset = offsetof(struct timing_in, cycles) + i * 4,
					      CFG_RANGE(0, 10000)};
	memcpy(&table[STAGES], rest, sizeof(rest));
}

static int find_profile(struct cfg *c, const json_t *json, const struct profile **out)
{
	const char *names[PROFILES + 1] = {NULL};
	uint32_t place;
	int rc;

	for (size_t i = 0; i < PROFILES; i++)
		names[i] = profiles[i].name;
	rc = cfg_enum(c, json, names, &place);
	if (rc == 0)
		*out = &profiles[place];
	return rc;
}

static int read_object(struct cfg *c, const json_t *json, const struct profile **profile,
		       struct timing_in *in)
{
	const json_t *name = json_object_get(json, "profile");
	struct cfg_field table[STAGES + 7];
	int rc;

	make_table(table);
	rc = cfg_known(c, json, table, NULL);
	if (rc == 0 && name != NULL) {
		cfg_push(c, "profile");
		rc = find_profile(c, name, profile);
		cfg_pop(c);
	}
	if (rc != 0)
		return rc;
	*in = (*profile)->timing;
	return cfg_read(c, json, table, in);
}

/** That of the stack. */
static const struct profile *default_profile(const struct mf_config_tier *tier)
{
	for (size_t i = 0; i < PROFILES && tier->stack_ops != NULL; i++)
		if (strcmp(profiles[i].name, tier->stack_ops->timing) == 0)
			return &profiles[i];
	return &profiles[0];
}

int cfg_timing(struct cfg *c, const json_t *json)
{
	static const char *const cycle[] = {"cycle", NULL}, *const above[] = {"mac", "protocol", NULL};
	struct mf_config_tier *tier = c->tier;
	const struct profile *profile = default_profile(tier);
	struct timing_in in = profile->timing;
	uint32_t cycles = 0;
	int rc = 0;

	if (json_is_object(json))
		rc = read_object(c, json, &profile, &in);
	else if (json_is_string(json))
		rc = find_profile(c, json, &profile);
	else if (json != NULL)
		rc = cfg_fail(c, "must be the name of a profile or an object");
	if (rc != 0)
		return rc;
	if (!json_is_object(json))
		in = profile->timing;
	strcpy(tier->timing_profile, profile->name);
	tier->cycle = in.cycle;
	for (size_t i = 0; i < STAGES; i++) {
		tier->timing.cost[i] = in.cycles[i] * in.cycle;
		cycles += in.cycles[i];
	}
	tier->timing.cost[MF_STAGE_PMA] = in.pma;
	tier->timing.cost[MF_STAGE_PROTOCOL] = in.protocol;
	tier->dram = in.dram;
	tier->client = in.client;
	c->client |= json_object_get(json, "client") != NULL;
	if (tier->stack_ops == NULL)
		rc = cfg_refuse(c, json, above, "EDM's stack is in the PHY");
	if (rc != 0)
		return rc;
	return cycles != 0 ? 0 : cfg_refuse(c, json, cycle, "all stages take 0 cycles");
}
