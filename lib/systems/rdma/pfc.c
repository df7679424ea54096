/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RoCEv2 on a network without loss: PFC in the switch, DCQCN at its ends (Zhu et al., SIGCOMM 2015). The
 * values are those of 40 Gb/s (docs/systems/pfc.md says of each where it is from), none scaled to a link of 1
 * Gb/s or more.
 */
#include <errno.h>
#include <math.h>

#include "systems/rdma/mf_rdma.h"
#include "systems/rdma/roce.h"

enum {
	PFC_CNP_CLASS = ROCE_PARAMS,
	PFC_G,
	PFC_ALPHA_TIMER,
	PFC_CNP_INTERVAL,
	PFC_RATE_TIMER,
	PFC_BYTE_COUNTER,
	PFC_RECOVERY,
	PFC_ADDITIVE,
	PFC_HYPER,
	PFC_LEAST,
	PFC_PARAMS
};

/* clang-format off */
static const struct mf_param params[] = {
	{ROCE_PARAM_MTU},
	{ROCE_PARAM_TIMEOUT},
	{ROCE_PARAM_RETRIES},
	{ROCE_PARAM_READS},
	{ROCE_PARAM_ACK_EVERY},
	{ROCE_PARAM_CLASS},
	{"cnp_class", MF_PARAM_COUNT, 6, 0, 7, "class of congestion notifications, which PFC does not pause"},
	{"g", MF_PARAM_REAL, 1.0 / 256, 1e-6, 1, "weight of a CNP in alpha (1/256)"},
	{"alpha_timer", MF_PARAM_LINE_TIME, MF_US(55), MF_NS(100), MF_SEC(1),
	 "K: without a CNP alpha decays"},
	{"cnp_interval", MF_PARAM_LINE_TIME, MF_US(50), 0, MF_SEC(1), "N: at most one CNP of a flow in this"},
	{"rate_timer", MF_PARAM_LINE_TIME, MF_US(55), MF_NS(100), MF_SEC(1),
	 "T: the rate rises once in this"},
	{"byte_counter", MF_PARAM_SIZE, 10e6, 1000, 1 << 30, "B: and once in so many octets (10 MB)"},
	{"recovery", MF_PARAM_COUNT, 5, 1, 100, "F: rises of fast recovery"},
	{"r_ai", MF_PARAM_LINE_RATE, 40, 0.001, 1e6, "R_AI: additive increase, Mb/s"},
	{"r_hai", MF_PARAM_LINE_RATE, 400, 0.001, 1e6, "R_HAI: hyper increase, Mb/s (our choice)"},
	{"rate_min", MF_PARAM_LINE_RATE, 40, 0.001, 1e6, "no flow is slower, Mb/s (our choice)"},
	{0}};
/* clang-format on */
static_assert(sizeof(params) / sizeof(params[0]) == PFC_PARAMS + 1, "one for each place");

#define MEGABITS 125e3 /* octets a second */

static struct mf_stack *pfc_create(const struct mf_stack_config *c)
{
	const double *p = c->param, line = c->period != 0 ? 8e12 / c->period : 0;
	const struct dcqcn_config dcqcn = {
		.line = line,
		.g = p[PFC_G],
		.alpha_timer = (mf_time)p[PFC_ALPHA_TIMER],
		.rate_timer = (mf_time)p[PFC_RATE_TIMER],
		.byte_counter = (uint64_t)p[PFC_BYTE_COUNTER],
		.recovery = (uint32_t)p[PFC_RECOVERY],
		.additive = p[PFC_ADDITIVE] * MEGABITS,
		.hyper = p[PFC_HYPER] * MEGABITS,
		.least = fmin(p[PFC_LEAST] * MEGABITS, line),
		.cnp_interval = (mf_time)p[PFC_CNP_INTERVAL],
	};

	if (c->period == 0) { /* rates are of a link that has one */
		errno = EINVAL;
		return NULL;
	}
	return roce_new(c, PFC_PARAMS, &dcqcn, (uint8_t)p[PFC_CNP_CLASS]);
}

/** Notifications, too. */
static uint8_t pfc_classes(const double *param)
{
	return (uint8_t)(roce_pfc_classes(param) | 1 << (unsigned int)param[PFC_CNP_CLASS]);
}

const struct mf_stack_ops stack_pfc = {.name = "pfc",
				       .bridge = "pfc",
				       .params = params,
				       .create = pfc_create,
				       .pfc_classes = pfc_classes,
				       ROCE_OPS};
