/* SPDX-License-Identifier: BSD-3-Clause */
#include "xstats.h"

#include <string.h>

static const char *const names[XSTATS] = {
	[XSTAT_RX_MESSAGES] = "rx_messages",
	[XSTAT_RX_FRAMES] = "rx_frames",
	[XSTAT_RX_PAYLOAD_BYTES] = "rx_payload_bytes",
	[XSTAT_RX_MEMORY_BLOCKS] = "rx_memory_blocks",
	[XSTAT_RX_FRAME_BLOCKS] = "rx_frame_blocks",
	[XSTAT_RX_IDLE_BLOCKS] = "rx_idle_blocks",
	[XSTAT_RX_RREQ_BLOCKS] = "rx_rreq_blocks",
	[XSTAT_RX_RMWREQ_MESSAGES] = "rx_rmwreq_messages",
	[XSTAT_RX_WREQ_CHUNKS] = "rx_wreq_chunks",
	[XSTAT_RX_WREQ_ACK_CHUNKS] = "rx_wreq_ack_chunks",
	[XSTAT_RX_RRES_CHUNKS] = "rx_rres_chunks",
	[XSTAT_RX_GRANT_BLOCKS] = "rx_grant_blocks",
	[XSTAT_RX_ACK_BLOCKS] = "rx_ack_blocks",
	[XSTAT_RX_ERR_BLOCKS] = "rx_err_blocks",
	[XSTAT_RX_BAD_BLOCKS] = "rx_bad_blocks",
	[XSTAT_RX_ABORTED_MESSAGES] = "rx_aborted_messages",
	[XSTAT_RX_CRC_ERRORS] = "rx_crc_errors",
	[XSTAT_RX_PROTOCOL_ERRORS] = "rx_protocol_errors",
	[XSTAT_RX_UNKNOWN_ERRORS] = "rx_unknown_errors",
	[XSTAT_RX_DESTINATION_ERRORS] = "rx_destination_errors",
	[XSTAT_RX_NO_ROOM_ERRORS] = "rx_no_room_errors",
	[XSTAT_RX_DAMAGED_FRAMES] = "rx_damaged_frames",
	[XSTAT_TX_MESSAGES] = "tx_messages",
	[XSTAT_TX_FRAMES] = "tx_frames",
	[XSTAT_TX_PAYLOAD_BYTES] = "tx_payload_bytes",
	[XSTAT_TX_MEMORY_BLOCKS] = "tx_memory_blocks",
	[XSTAT_TX_FRAME_BLOCKS] = "tx_frame_blocks",
	[XSTAT_TX_GAP_BLOCKS] = "tx_gap_blocks",
	[XSTAT_TX_NOTIFY_BLOCKS] = "tx_notify_blocks",
	[XSTAT_TX_RREQ_BLOCKS] = "tx_rreq_blocks",
	[XSTAT_TX_RMWREQ_MESSAGES] = "tx_rmwreq_messages",
	[XSTAT_TX_WREQ_CHUNKS] = "tx_wreq_chunks",
	[XSTAT_TX_WREQ_ACK_CHUNKS] = "tx_wreq_ack_chunks",
	[XSTAT_TX_RRES_CHUNKS] = "tx_rres_chunks",
	[XSTAT_TX_ACK_BLOCKS] = "tx_ack_blocks",
	[XSTAT_TX_ERR_BLOCKS] = "tx_err_blocks",
	[XSTAT_TX_GRANT_RETURN_BLOCKS] = "tx_grant_return_blocks",
	[XSTAT_TX_PREEMPTIONS] = "tx_preemptions",
	[XSTAT_TX_ABORTED_MESSAGES] = "tx_aborted_messages",
	[XSTAT_TX_REFUSED_FRAMES] = "tx_refused_frames",
	[XSTAT_TX_TIMEOUT_ERRORS] = "tx_timeout_errors",
};

const char *xstat_name(enum xstat x)
{
	return names[x];
}

/** Wire blocks of a read request, which always has as many. */
static uint64_t request_blocks(const struct mf_config *config)
{
	return mf_proto_request_blocks(&config->tier->proto, &(struct mf_msg){.kind = MF_RREQ});
}

static uint64_t all_kinds(const uint64_t kind[MF_KINDS])
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < MF_KINDS; i++)
		sum += kind[i];
	return sum;
}

static void take_received(const struct mf_host_stats *h, const struct mf_demux_stats *d,
			  const struct mf_ether_stats *e, uint64_t *v)
{
	v[XSTAT_RX_MESSAGES] = all_kinds(h->rx);
	v[XSTAT_RX_FRAMES] = e->received + e->duplicated + e->damaged + e->foreign;
	v[XSTAT_RX_PAYLOAD_BYTES] = h->rx_octets;
	v[XSTAT_RX_MEMORY_BLOCKS] = d->memory_blocks;
	v[XSTAT_RX_FRAME_BLOCKS] = d->frame_blocks;
	v[XSTAT_RX_IDLE_BLOCKS] = d->idle_blocks;
	v[XSTAT_RX_RMWREQ_MESSAGES] = h->rx[MF_RMWREQ];
	v[XSTAT_RX_WREQ_CHUNKS] = h->rx[MF_WREQ];
	v[XSTAT_RX_WREQ_ACK_CHUNKS] = h->rx[MF_WREQ_ACK];
	v[XSTAT_RX_RRES_CHUNKS] = h->rx[MF_RRES];
	v[XSTAT_RX_GRANT_BLOCKS] = h->rx[MF_GRANT];
	v[XSTAT_RX_ACK_BLOCKS] = h->rx[MF_ACK];
	v[XSTAT_RX_ERR_BLOCKS] = h->rx[MF_ERR];
	v[XSTAT_RX_BAD_BLOCKS] = d->bad_blocks;
	v[XSTAT_RX_ABORTED_MESSAGES] = d->aborts;
	v[XSTAT_RX_CRC_ERRORS] = h->drop_check;
	v[XSTAT_RX_PROTOCOL_ERRORS] = h->drop_proto;
	v[XSTAT_RX_UNKNOWN_ERRORS] = h->drop_unknown;
	v[XSTAT_RX_DESTINATION_ERRORS] = h->drop_dst;
	v[XSTAT_RX_NO_ROOM_ERRORS] = h->drop_room;
	v[XSTAT_RX_DAMAGED_FRAMES] = e->damaged;
}

static void take_sent(const struct mf_host_stats *h, const struct mf_mux_stats *m, uint64_t *v)
{
	v[XSTAT_TX_MESSAGES] = m->messages;
	v[XSTAT_TX_FRAMES] = m->frames;
	v[XSTAT_TX_PAYLOAD_BYTES] = h->tx_octets;
	v[XSTAT_TX_MEMORY_BLOCKS] = m->memory_blocks;
	v[XSTAT_TX_FRAME_BLOCKS] = m->frame_blocks;
	v[XSTAT_TX_GAP_BLOCKS] = m->gap_blocks;
	v[XSTAT_TX_NOTIFY_BLOCKS] = h->tx[MF_NOTIFY];
	v[XSTAT_TX_RMWREQ_MESSAGES] = h->tx[MF_RMWREQ];
	v[XSTAT_TX_WREQ_CHUNKS] = h->tx[MF_WREQ];
	v[XSTAT_TX_WREQ_ACK_CHUNKS] = h->tx[MF_WREQ_ACK];
	v[XSTAT_TX_RRES_CHUNKS] = h->tx[MF_RRES];
	v[XSTAT_TX_ACK_BLOCKS] = h->tx[MF_ACK];
	v[XSTAT_TX_ERR_BLOCKS] = h->tx[MF_ERR];
	v[XSTAT_TX_GRANT_RETURN_BLOCKS] = h->tx[MF_GRET];
	v[XSTAT_TX_PREEMPTIONS] = m->preemptions;
	v[XSTAT_TX_ABORTED_MESSAGES] = m->aborted;
	v[XSTAT_TX_REFUSED_FRAMES] = m->frames_refused;
	v[XSTAT_TX_TIMEOUT_ERRORS] = h->timeouts;
}

void xstats_take(const struct mf_fabric *f, const struct mf_config *config, unsigned int port,
		 uint64_t value[XSTATS])
{
	const struct mf_ether_stats *e = mf_fabric_ether(f, port);
	struct mf_host_stats h;

	memset(value, 0, XSTATS * sizeof(value[0]));
	if (!mf_fabric_host(f, port, &h) || e == NULL)
		return;
	take_received(&h, mf_fabric_received(f, port, MF_LINK_NODE), e, value);
	take_sent(&h, mf_fabric_sent(f, port, MF_LINK_NODE), value);
	value[XSTAT_RX_RREQ_BLOCKS] = h.rx[MF_RREQ] * request_blocks(config);
	value[XSTAT_TX_RREQ_BLOCKS] = h.tx[MF_RREQ] * request_blocks(config);
}
