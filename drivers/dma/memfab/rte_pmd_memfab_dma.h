/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program may ask of a dma_memfab device that dmadev has no word for. */
#ifndef RTE_PMD_MEMFAB_DMA_H
#define RTE_PMD_MEMFAB_DMA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Addresses of the device's side: those in DEV_TO_MEM copies as source, in MEM_TO_DEV copies and fills as
 * destination. Octet i of the window is octet base + i of the target's memory, and base is 0.
 *
 * @return 0; -EINVAL: no device of this driver; -ENOTSUP: it has space=, and addresses are pointers of it
 */
int rte_pmd_memfab_dma_window(int16_t dev_id, uint64_t *base, uint64_t *size);

#ifdef __cplusplus
}
#endif

#endif
