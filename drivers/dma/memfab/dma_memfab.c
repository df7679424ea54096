/* SPDX-License-Identifier: BSD-3-Clause */
/* The device: from its arguments to its end. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <bus_vdev_driver.h>
#include <rte_eal.h>
#include <rte_lcore.h>

#include "client/mf_session.h"
#include "dma.h"
#include "rte_pmd_memfab_dma.h"

RTE_LOG_REGISTER(memfab_dma_log, pmd.dma.memfab, NOTICE);

static int info_get(const struct rte_dma_dev *dev, struct rte_dma_info *info, uint32_t size)
{
	const struct dma_device *d = dev->data->dev_private;

	RTE_SET_USED(size);
	info->dev_capa = RTE_DMA_CAPA_MEM_TO_DEV | RTE_DMA_CAPA_DEV_TO_MEM | RTE_DMA_CAPA_SVA |
			 RTE_DMA_CAPA_HANDLES_ERRORS | RTE_DMA_CAPA_OPS_COPY | RTE_DMA_CAPA_OPS_FILL;
	if (d->staging)
		info->dev_capa |= RTE_DMA_CAPA_MEM_TO_MEM;
	info->max_vchans = VCHANS_MAX;
	info->min_desc = 1;
	info->max_desc = DESCRIPTORS_MAX;
	return 0;
}

static int configure(struct rte_dma_dev *dev, const struct rte_dma_conf *conf, uint32_t size)
{
	struct dma_device *d = dev->data->dev_private;

	RTE_SET_USED(size);
	for (unsigned int i = conf->nb_vchans; i < VCHANS_MAX; i++)
		vchan_free(&d->vchan[i]);
	return 0;
}

static int setup(struct rte_dma_dev *dev, uint16_t vchan, const struct rte_dma_vchan_conf *conf,
		 uint32_t size)
{
	RTE_SET_USED(size);
	return vchan_setup(dev->data->dev_private, vchan, conf);
}

static int start(struct rte_dma_dev *dev)
{
	const struct dma_device *d = dev->data->dev_private;

	for (unsigned int i = 0; i < dev->data->dev_conf.nb_vchans; i++)
		if (d->vchan[i].queue == NULL) {
			DMA_LOG(ERR, d->name, "channel %u is not set up", i);
			return -EINVAL;
		}
	return 0;
}

static int stop(struct rte_dma_dev *dev)
{
	struct dma_device *d = dev->data->dev_private;

	for (unsigned int i = 0; i < VCHANS_MAX; i++)
		if (d->vchan[i].queue != NULL)
			vchan_drain(&d->vchan[i]);
	return 0;
}

static int stats_get(const struct rte_dma_dev *dev, uint16_t vchan, struct rte_dma_stats *stats,
		     uint32_t size)
{
	const struct dma_device *d = dev->data->dev_private;

	RTE_SET_USED(size);
	memset(stats, 0, sizeof(*stats));
	for (unsigned int i = 0; i < VCHANS_MAX; i++)
		if (vchan == RTE_DMA_ALL_VCHAN || vchan == i) {
			stats->submitted += d->vchan[i].stats.submitted;
			stats->completed += d->vchan[i].stats.completed;
			stats->errors += d->vchan[i].stats.errors;
		}
	return 0;
}

static int stats_reset(struct rte_dma_dev *dev, uint16_t vchan)
{
	struct dma_device *d = dev->data->dev_private;

	for (unsigned int i = 0; i < VCHANS_MAX; i++)
		if (vchan == RTE_DMA_ALL_VCHAN || vchan == i)
			memset(&d->vchan[i].stats, 0, sizeof(d->vchan[i].stats));
	return 0;
}

/** Who waits in a loop around this call brings the fabric on by it. */
static int vchan_status(const struct rte_dma_dev *dev, uint16_t vchan, enum rte_dma_vchan_status *status)
{
	struct vchan *v = &((struct dma_device *)dev->data->dev_private)->vchan[vchan];

	vchan_advance(v);
	*status = vchan_is_idle(v) ? RTE_DMA_VCHAN_IDLE : RTE_DMA_VCHAN_ACTIVE;
	return 0;
}

static int dump(const struct rte_dma_dev *dev, FILE *f)
{
	const struct dma_device *d = dev->data->dev_private;

	fprintf(f, "    node: %s\n", d->node != NULL ? d->node : "(first)");
	if (d->space != NULL)
		fprintf(f, "    addresses: pointers of a space\n");
	else
		fprintf(f, "    target: %d\n    window: 0x0-0x%" PRIx64 "\n", d->target, d->window - 1);
	for (unsigned int i = 0; i < VCHANS_MAX; i++) {
		const struct vchan *v = &d->vchan[i];

		if (v->queue != NULL)
			fprintf(f, "    vchan %u: room %u, not submitted %u, under way %u, not reported %u\n",
				i, v->room, v->enqueued - v->submitted, memfab_outstanding(v->queue),
				v->submitted - v->reported);
	}
	return 0;
}

static int close_device(struct rte_dma_dev *dev)
{
	struct dma_device *d = dev->data->dev_private;

	for (unsigned int i = 0; i < VCHANS_MAX; i++)
		vchan_free(&d->vchan[i]);
	dma_space_close(d);
	memfab_close(d->fabric);
	d->fabric = NULL;
	free(d->node);
	d->node = NULL;
	return 0;
}

static const struct rte_dma_dev_ops ops = {
	.dev_info_get = info_get,
	.dev_configure = configure,
	.dev_start = start,
	.dev_stop = stop,
	.dev_close = close_device,
	.vchan_setup = setup,
	.stats_get = stats_get,
	.stats_reset = stats_reset,
	.vchan_status = vchan_status,
	.dev_dump = dump,
};

int rte_pmd_memfab_dma_window(int16_t dev_id, uint64_t *base, uint64_t *size)
{
	struct rte_dma_info info;
	const struct rte_dma_fp_object *fp;

	if (!rte_dma_is_valid(dev_id) || rte_dma_info_get(dev_id, &info) != 0)
		return -EINVAL;
	fp = &rte_dma_fp_objs[dev_id];
	if (fp->dev_private == NULL || strncmp(info.dev_name, "dma_memfab", strlen("dma_memfab")) != 0)
		return -EINVAL;
	if (((const struct dma_device *)fp->dev_private)->space != NULL)
		return -ENOTSUP;
	*base = 0;
	*size = ((const struct dma_device *)fp->dev_private)->window;
	return 0;
}

/** Reads that see the writes before them are what a stage hangs on (D9). */
static bool keeps_order(const char *fabric, const struct dma_args *args)
{
	const struct mf_session_options options = {.only = args->only ? args->node : NULL,
						   .workload = args->workload};
	struct mf_session *s;
	char err[MEMFAB_ERR_LEN];
	bool pair;

	if (mf_session_open(fabric, &options, &s, err, sizeof(err)) != 0)
		return false;
	pair = mf_session_config(s)->tier->sched.order == MF_ORDER_PAIR;
	mf_session_close(s);
	return pair;
}

static int find_target(struct dma_device *d, const struct dma_args *args)
{
	const uint64_t stages = (uint64_t)VCHANS_MAX * STAGE;
	uint64_t size;

	d->target = args->target != NULL ? memfab_node(d->fabric, args->target) : 0;
	while (args->target == NULL && d->target < MF_NODES_MAX && memfab_memory(d->fabric, d->target) == 0)
		d->target++;
	size = memfab_memory(d->fabric, d->target);
	if (size == 0) {
		DMA_LOG(ERR, d->name, "there is no memory node '%s'",
			args->target != NULL ? args->target : "");
		return -ENOENT;
	}
	if (memfab_has_spaces(d->fabric, d->target)) {
		DMA_LOG(ERR, d->name,
			"the target's memory has address spaces: space=FILE names one by its token");
		return -EINVAL;
	}
	d->window = args->window != 0 ? args->window : size > stages ? size - stages : size;
	if (d->window > size) {
		DMA_LOG(ERR, d->name, "the target has %" PRIu64 " octets, less than the window", size);
		return -ERANGE;
	}
	d->staging = size - d->window >= stages && keeps_order(args->fabric, args);
	d->stages = d->window;
	return 0;
}

static int open_fabric(struct dma_device *d, const struct dma_args *args)
{
	const struct memfab_options options = {.only = args->only ? args->node : NULL,
					       .workload = args->workload};
	struct memfab_queue *q = NULL;
	char err[MEMFAB_ERR_LEN];
	int rc;

	if (args->node != NULL && (d->node = strdup(args->node)) == NULL)
		return -ENOMEM;
	rc = memfab_open(args->fabric, &options, &d->fabric, err, sizeof(err));
	if (rc == 0) /* whether there is such a node, and it is free: now, not when channels are set up */
		rc = memfab_queue_new(d->fabric, d->node, 1, &q, err, sizeof(err));
	if (rc == 0)
		memfab_queue_free(q);
	else
		DMA_LOG(ERR, d->name, "%s", err);
	return rc;
}

static int start_device(struct rte_vdev_device *vdev, const struct dma_args *args)
{
	const char *name = rte_vdev_device_name(vdev);
	struct rte_dma_dev *dev = rte_dma_pmd_allocate(name, (int)rte_socket_id(), sizeof(struct dma_device));
	struct dma_device *d;
	int rc;

	if (dev == NULL)
		return -ENOMEM;
	d = dev->data->dev_private;
	d->name = name;
	dev->device = &vdev->device;
	dev->dev_ops = &ops;
	dev->fp_obj->dev_private = d;
	burst_functions(dev->fp_obj);
	rc = open_fabric(d, args);
	if (rc == 0)
		rc = args->space != NULL ? dma_space_open(d, args->space) : find_target(d, args);
	if (rc != 0) {
		close_device(dev);
		rte_dma_pmd_release(name);
		return rc;
	}
	dev->state = RTE_DMA_DEV_READY;
	return 0;
}

static int probe(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	struct dma_args args = {.fabric = NULL};
	int rc = dma_args_parse(name, rte_vdev_device_args(vdev), &args);

	if (rc == 0 && rte_eal_iova_mode() != RTE_IOVA_VA) {
		DMA_LOG(ERR, name, "needs --iova-mode=va: addresses are used by the CPU");
		rc = -ENOTSUP;
	}
	if (rc == 0)
		rc = start_device(vdev, &args);
	dma_args_free(&args);
	return rc;
}

static int remove_device(struct rte_vdev_device *vdev)
{
	return rte_dma_pmd_release(rte_vdev_device_name(vdev));
}

static struct rte_vdev_driver driver = {.probe = probe, .remove = remove_device};

RTE_PMD_REGISTER_VDEV(dma_memfab, driver);
RTE_PMD_REGISTER_PARAM_STRING(dma_memfab, "fabric=<file> node=<name> target=<name> window=<octets> "
					  "space=<file> workload=<0|1> only=<0|1>");
