/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "redundant_rig.h"

struct mf_switch_config redundant_config;

void redundant_start(struct rig *r, uint8_t number)
{
	rig_config(&redundant_config, PORTS);
	redundant_config.redundant = redundant_config.epoch_known = redundant_config.begins =
		redundant_config.in_order = true;
	redundant_config.number = number;
	redundant_config.chunk = 256;
	redundant_config.take_again = AGAIN;
	redundant_config.proto.ext = true;
	rig_start(r, &redundant_config, false);
}

void redundant_say(struct rig *r, mf_time at, unsigned int port, enum mf_take what, uint16_t epoch,
		   uint16_t of)
{
	const struct mf_msg m = {.kind = MF_TAKE, .op = (uint8_t)what, .epoch = epoch, .dst = of};
	uint64_t word;

	rig_single(&m, &word);
	rig_message(r, at, port, &word, 1);
}

bool redundant_is_active(const struct rig *r)
{
	uint16_t epoch;

	return mf_switch_active(r->sw, &epoch);
}

void redundant_write(struct rig *r, mf_time at, enum mf_kind kind, uint8_t id, uint32_t offset)
{
	static const uint8_t data[256];
	const struct mf_msg m = {.kind = kind,
				 .src = 0,
				 .dst = MEMORY,
				 .id = id,
				 .ext = true,
				 .size = sizeof(data),
				 .offset = offset,
				 .last = offset != 0};
	uint64_t word[MF_BLOCKS_MAX];
	unsigned int n = mf_proto_put_chunk(&redundant_config.proto, &m, data, word);

	rig_message(r, at, 0, word, n);
}

void redundant_notify(struct rig *r, mf_time at, uint8_t id)
{
	const struct mf_msg m = {.kind = MF_NOTIFY, .dst = MEMORY, .id = id, .ext = true, .size = 512};
	uint64_t word;

	rig_single(&m, &word);
	rig_message(r, at, 0, &word, 1);
}

void redundant_ask(struct rig *r, mf_time at, uint8_t id)
{
	uint64_t word[MF_REQUEST_BLOCKS_MAX];
	const struct mf_msg m = {
		.kind = MF_RREQ, .src = 0, .dst = MEMORY, .id = id, .ext = true, .size = 64, .addr = 64};
	unsigned int n = mf_proto_put_request(&redundant_config.proto, &m, word);

	rig_message(r, at, 0, word, n);
}

void redundant_flap(struct rig *r, mf_time at, uint16_t port)
{
	mf_switch_link_down(r->sw, port, at);
	rig_run(r, at + 1);
	rig_grant(r, at + 2, &(struct mf_sched_grant){.src = port, .dst = port});
	rig_run(r, at + 3);
	cr_assert(mf_switch_link_up(r->sw, port, at + 3));
}

void redundant_hears(struct rig *r, mf_time at, uint16_t port, uint16_t of, uint8_t incarnation)
{
	const struct mf_msg m = {
		.kind = MF_ERR, .src = port, .dst = of, .id = incarnation, .status = MF_ERR_INCARNATION};
	uint64_t word;

	rig_single(&m, &word);
	rig_message(r, at, port, &word, 1);
}

void redundant_start_patient(struct rig *r, uint8_t number)
{
	redundant_start(r, number);
	rig_stop(r);
	redundant_config.longest = LONGEST;
	rig_start(r, &redundant_config, false);
	rig_run(r, MF_US(1));
}

void redundant_respond(struct rig *r, mf_time at, uint8_t id)
{
	static const uint8_t data[64];
	const struct mf_msg m = {.kind = MF_RRES,
				 .src = MEMORY,
				 .dst = 0,
				 .id = id,
				 .ext = true,
				 .size = sizeof(data),
				 .last = true};
	uint64_t word[MF_BLOCKS_MAX];

	rig_message(r, at, MEMORY, word, mf_proto_put_chunk(&redundant_config.proto, &m, data, word));
}
