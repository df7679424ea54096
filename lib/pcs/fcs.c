/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame check sequence: IEEE 802.3 clause 3.2.9, by DPDK's rte_net_crc. */
#include <rte_net_crc.h>

#include "mf_frame.h"

void mf_fcs_init(bool simd)
{
	/*
	 * Not AVX-512: EAL allows 256 bits unless told otherwise, and asking for more in vain is logged.
	 * Falls back to the scalar one where CPU or EAL do not allow it.
	 */
	rte_net_crc_set_alg(simd ? RTE_NET_CRC_SSE42 : RTE_NET_CRC_SCALAR);
}

uint32_t mf_fcs(const void *data, size_t len)
{
	return rte_net_crc_calc(data, (uint32_t)len, RTE_NET_CRC32_ETH);
}
