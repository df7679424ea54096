/* SPDX-License-Identifier: BSD-3-Clause */
/* Roles of frames are made whole or not at all: whatever there is no memory for, nothing stays behind. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "shortage.h"
#include "systems/frames/mf_frame_host.h"
#include "systems/frames/mf_frame_switch.h"
#include "systems/mf_systems.h"

struct mf_stack {
	char one;
};

static struct mf_stack *create(const struct mf_stack_config *config)
{
	(void)config;
	return malloc(sizeof(struct mf_stack));
}

static void destroy(struct mf_stack *s)
{
	free(s);
}

static const struct mf_stack_ops stack = {.create = create, .destroy = destroy};

static int make(const void *of)
{
	struct mf_frame_host *h = mf_frame_host_new(of);

	if (h == NULL)
		return -errno;
	mf_frame_host_free(h);
	return 0;
}

Test(stack_shortage, of_a_host)
{
	struct mf_frame_host_config c = {
		.stack = &stack,
		.of = {.nodes = 3, .compute = true, .queue = 16},
		.mux = {.policy = MF_MUX_FAIR,
			.period = 2560,
			.memory_blocks = 1 << 14,
			.memory_items = 1 << 10,
			.frames = 16,
			.frame_bytes = 1 << 16,
			.quantum = 16},
		.ber_window = MF_US(125),
	};

	shortage_each(make, &c);
	c.blocks = true;
	shortage_each(make, &c);
	c.stack = NULL;
	c.mux.period = 0;
	shortage_each(make, &c);
}

#define PORTS 3

static int make_switch(const void *of)
{
	struct mf_frame_switch *sw = mf_frame_switch_new(of);

	if (sw == NULL)
		return -errno;
	mf_frame_switch_free(sw);
	return 0;
}

/** With a bridge that has its usual parameters. */
static void bridge(const char *name)
{
	static double param[MF_PARAMS_MAX];
	static const mf_time delay[PORTS];
	const struct mf_bridge_ops *ops = mf_bridge_find(name);
	struct mf_port_config port[PORTS];
	const struct mf_frame_switch_config c = {
		.bridge = ops,
		.of = {.ports = PORTS, .delay = delay, .param = param, .obeyed = 0xff},
		.port = port};

	cr_assert_not_null(ops);
	cr_log_info("%s", name);
	for (unsigned int i = 0; ops->params[i].key != NULL; i++)
		param[i] = ops->params[i].value;
	for (unsigned int i = 0; i < PORTS; i++)
		port[i] = (struct mf_port_config){.up = true,
						  .memory_enabled = ops->messages,
						  .mux = {.policy = MF_MUX_FAIR,
							  .period = 2560,
							  .memory_blocks = 1 << 14,
							  .memory_items = 1 << 10,
							  .frames = 16,
							  .frame_bytes = 1 << 16,
							  .quantum = 16},
						  .ber_window = MF_US(125)};
	shortage_each(make_switch, &c);
}

Test(stack_shortage, of_a_switch)
{
	for (const char *const *name = mf_bridge_names; *name != NULL; name++)
		bridge(*name);
}
