/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dma_memfab: a dmadev whose device is the memory of a memory node. A virtual channel is a queue of the
 * client library, so a channel belongs to one thread, as dmadev wants it.
 *
 * With space= the device is an address space: addresses of its side are pointers (client/memfab.h).
 *
 * A descriptor is made of steps, operations of the client. A copy from or to the device is one step. A copy
 * from memory to memory is written to a stage, and read from there. The stage is a part of the target's
 * memory behind the window, or pages of the space. A fill is written from a block that has the pattern.
 * Descriptors stand in a ring:
 *
 *	reported <= done in order <= issued <= submitted <= enqueued     (positions count up and wrap)
 */
#ifndef DMA_H
#define DMA_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_dmadev_pmd.h>
#include <rte_log.h>

#include "client/memfab.h"

#define VCHANS_MAX 8
#define DESCRIPTORS_MAX 4096
#define STAGE 65536 /**< octets of the stage of a channel */
#define PATTERN 512 /**< octets of the block of a descriptor that is filled from */

extern int memfab_dma_log;
/** @param name  of the device: there may be several */
#define DMA_LOG(level, name, format, ...) \
	rte_log(RTE_LOG_##level, (uint32_t)memfab_dma_log, "%s: " format "\n", name, ##__VA_ARGS__)

/** Of the device. */
struct dma_args {
	char *fabric; /**< path */
	char *node, *target; /**< names, NULL: the first one */
	char *space; /**< path of a token; NULL: the device is a target's flat memory */
	uint64_t window; /**< octets, 0: all */
	bool workload, only;
};

/** @return 0; -EINVAL with a line in the log */
int dma_args_parse(const char *name, const char *text, struct dma_args *args);
void dma_args_free(struct dma_args *args);

enum dma_kind { DMA_COPY, DMA_FILL };

struct descriptor {
	uint64_t src, dst; /**< of a fill: src is its pattern */
	uint32_t length;
	uint32_t issued; /**< octets whose steps have been submitted */
	uint32_t live; /**< steps under way */
	uint16_t status; /**< enum rte_dma_status_code */
	uint8_t kind;
	bool fence;
	bool staged; /**< the next step reads what the last one has written to the stage */
};

struct vchan {
	struct memfab_queue *queue; /**< NULL: not set up */
	struct descriptor *ring;
	uint8_t (*pattern)[PATTERN]; /**< one for each descriptor of the ring */
	enum rte_dma_direction direction;
	int target;
	uint64_t window; /**< octets of the device's side */
	const struct memfab_space *space; /**< NULL: none */
	uint64_t stage; /**< address of the channel's own */
	uint32_t mask, room; /**< of the ring; descriptors that the program asked for */
	uint32_t enqueued, submitted, issued, reported;
	uint32_t empty; /**< looks since the last one that found something */
	struct rte_dma_stats stats;
};

struct dma_device {
	const char *name; /**< EAL's */
	struct memfab *fabric;
	char *node;
	int target;
	uint64_t window;
	bool staging; /**< there is room for stages */
	struct memfab_queue *queue; /**< with a space: for what is asked of it */
	struct memfab_space *space; /**< NULL: none */
	uint64_t stages; /**< address of those of all channels */
	struct vchan vchan[VCHANS_MAX];
};

/* space.c */
/** Joins the space of a token, where it allocates stages if it may. @return 0; -errno with a line */
int dma_space_open(struct dma_device *d, const char *path);
void dma_space_close(struct dma_device *d);
/** Whether octets follow each other in the addresses of a memory node. */
bool dma_space_has(uint64_t pointer, uint32_t length);

/* vchan.c */
int vchan_setup(struct dma_device *d, uint16_t number, const struct rte_dma_vchan_conf *conf);
void vchan_free(struct vchan *v);
/** Until nothing is under way. What has not been submitted is forgotten. */
void vchan_drain(struct vchan *v);

/* steps.c */
/** Submits what there is room for. */
void vchan_issue(struct vchan *v);
/** Takes what has completed, turns the fabric where nobody else does, and goes on with what has room now. */
void vchan_advance(struct vchan *v);
/** Whether all that was submitted is done. */
bool vchan_is_idle(const struct vchan *v);

/* burst.c */
void burst_functions(struct rte_dma_fp_object *fp);

#endif
