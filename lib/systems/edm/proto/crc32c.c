/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_hash_crc.h>

#include "systems/edm/proto/proto_crc.h"

uint32_t mf_crc32c(const uint64_t *word, unsigned int n, uint64_t last)
{
	uint32_t crc = UINT32_MAX;

	for (unsigned int i = 0; i < n; i++)
		crc = rte_hash_crc_8byte(word[i], crc);
	return ~rte_hash_crc_8byte(last, crc);
}
