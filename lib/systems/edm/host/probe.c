/* SPDX-License-Identifier: BSD-3-Clause */
/* Stamps of the stages that a message passes in a host. Waiting for the line is the span's to tell. */
#include "systems/edm/host/host.h"

void host_stamp_one(const struct mf_host *h, uint16_t cn, uint16_t mn, uint8_t id, enum mf_stage stage,
		    mf_time from, mf_time to)
{
	h->config.probe->stamp(h->config.probe->ctx, cn, mn, id, stage, from, to);
}

/** Stages that follow each other from a time on. @return when the last one ends */
mf_time host_stamp(const struct mf_host *h, uint16_t cn, uint16_t mn, uint8_t id, enum mf_stage first,
		   enum mf_stage last, mf_time from)
{
	for (enum mf_stage s = first; s <= last; s++) {
		host_stamp_one(h, cn, mn, id, s, from, from + h->config.timing.cost[s]);
		from += h->config.timing.cost[s];
	}
	return from;
}

void host_stamp_ack(const struct mf_host *h, uint16_t cn, uint8_t id, mf_time done)
{
	mf_time crossed =
		host_stamp(h, cn, h->shell.node, id, MF_STAGE_GRANT_QUEUE, MF_STAGE_GRANT_QUEUE, done);

	host_stamp(h, cn, h->shell.node, id, MF_STAGE_MAKE_DATA, MF_STAGE_MAKE_DATA, crossed);
}

/** A data message at its receiver: its first block is processed, then the other data, then the check. */
void host_stamp_data(const struct mf_host *h, uint16_t cn, uint16_t mn, const struct mf_msg *m, mf_time first,
		     mf_time last)
{
	mf_time begin = host_stamp(h, cn, mn, m->id, MF_STAGE_DATA_PARSE, MF_STAGE_DATA_DELIVER, first);
	unsigned int ext = m->ext ? MF_EXT_BLOCKS : 0;
	unsigned int blocks =
		mf_proto_chunk_blocks(&h->config.proto, m->size) + (h->config.proto.ext ? 0 : ext);
	unsigned int data = ext + (m->size + 7) / 8;
	mf_time end = last + h->cost_data, check;

	/* The blocks of a message are equally far apart; behind the data only its checks come. */
	check = end - (last - first) / (blocks - 1) * (blocks - 1 - data);
	host_stamp_one(h, cn, mn, m->id, MF_STAGE_SERIALISATION, begin, check);
	host_stamp_one(h, cn, mn, m->id, MF_STAGE_CHECK, check, end);
}
