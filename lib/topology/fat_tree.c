/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "topology/mf_fat_tree.h"

/** Where to write why a tree is refused. */
struct reason {
	char *text;
	size_t len;
};

static int refuse(const struct reason *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(const struct reason *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, why->len, format, args);
	va_end(args);
	return -EINVAL;
}

static uint32_t pods(const struct mf_fat_tree *f)
{
	return f->pods > 0 ? f->pods : 1;
}

/** Aggregation switches of a pod. */
static uint32_t pod_aggregation(const struct mf_fat_tree *f)
{
	return f->aggregation / pods(f);
}

/** Core switches that an aggregation switch has a link to. */
static uint32_t group(const struct mf_fat_tree *f)
{
	return f->core > 0 ? f->core / pod_aggregation(f) : 0;
}

static uint64_t count_links(const struct mf_fat_tree *f)
{
	return f->servers + (uint64_t)f->tor * pod_aggregation(f) + (uint64_t)f->aggregation * group(f);
}

static int check_range(const struct reason *why, const char *key, uint32_t n, uint32_t min)
{
	if (n >= min && n <= MF_FAT_TREE_MAX)
		return 0;
	return refuse(why, "%s: %" PRIu32 " is not within %" PRIu32 " and %d", key, n, min, MF_FAT_TREE_MAX);
}

static int check_divides(const struct reason *why, const char *key, uint32_t n, const char *what, uint32_t by)
{
	uint32_t below = n / by * by, above = below + by;

	if (n % by == 0)
		return 0;
	if (below == 0 || above > MF_FAT_TREE_MAX)
		return refuse(
			why, "%s: %" PRIu32 " does not divide by the %" PRIu32 " %s; the nearest is %" PRIu32,
			key, n, by, what, below == 0 ? above : below);
	return refuse(why,
		      "%s: %" PRIu32 " does not divide by the %" PRIu32 " %s; the nearest are %" PRIu32
		      " and %" PRIu32,
		      key, n, by, what, below, above);
}

/** Whether the layers that are there are connected. */
static int check_layers(const struct reason *why, const struct mf_fat_tree *f)
{
	if (f->core > 0 && f->aggregation == 0)
		return refuse(why, "core: core switches need aggregation switches");
	if (f->core > 0 && f->pods < 2)
		return refuse(why, "pods: core switches need 2 pods or more");
	if (f->core == 0 && f->pods > 1)
		return refuse(why, "core: %" PRIu32 " pods need core switches", f->pods);
	if (f->aggregation == 0 && f->tor > 1)
		return refuse(why, "aggregation: %" PRIu32 " ToR switches need aggregation switches", f->tor);
	return 0;
}

int mf_fat_tree_check(const struct mf_fat_tree *f, char *err, size_t len)
{
	const struct reason why = {err, len};

	if (check_range(&why, "servers", f->servers, 1) != 0 || check_range(&why, "tor", f->tor, 1) != 0 ||
	    check_range(&why, "aggregation", f->aggregation, 0) != 0 ||
	    check_range(&why, "core", f->core, 0) != 0 || check_range(&why, "pods", f->pods, 0) != 0 ||
	    check_layers(&why, f) != 0 ||
	    check_divides(&why, "servers", f->servers, "ToR switches", f->tor) != 0 ||
	    check_divides(&why, "tor", f->tor, "pods", pods(f)) != 0 ||
	    check_divides(&why, "aggregation", f->aggregation, "pods", pods(f)) != 0)
		return -EINVAL;
	if (f->core > 0 &&
	    check_divides(&why, "core", f->core, "aggregation switches of a pod", pod_aggregation(f)) != 0)
		return -EINVAL;
	if (count_links(f) > MF_FAT_TREE_LINKS)
		return refuse(&why, "the tree has %" PRIu64 " links, at most %" PRIu32 " are possible",
			      count_links(f), MF_FAT_TREE_LINKS);
	return 0;
}

uint32_t mf_fat_tree_switches(const struct mf_fat_tree *f)
{
	return f->tor + f->aggregation + f->core;
}

uint32_t mf_fat_tree_links(const struct mf_fat_tree *f)
{
	return (uint32_t)count_links(f);
}

char *mf_fat_tree_name(const struct mf_fat_tree *f, uint32_t sw, char *buf)
{
	const char *layer = "tor";

	if (sw >= f->tor + f->aggregation) {
		layer = "core";
		sw -= f->tor + f->aggregation;
	} else if (sw >= f->tor) {
		layer = "agg";
		sw -= f->tor;
	}
	snprintf(buf, MF_FAT_TREE_NAME, "%s%" PRIu32, layer, sw);
	return buf;
}

static struct mf_fat_tree_link tor_aggregation(const struct mf_fat_tree *f, uint32_t i)
{
	uint32_t tor = i / pod_aggregation(f), pod = tor / (f->tor / pods(f));

	return (struct mf_fat_tree_link){
		.class = MF_FAT_TREE_TOR_AGGREGATION,
		.from = tor,
		.to = f->tor + pod * pod_aggregation(f) + i % pod_aggregation(f),
	};
}

static struct mf_fat_tree_link aggregation_core(const struct mf_fat_tree *f, uint32_t i)
{
	uint32_t aggregation = i / group(f), within_pod = aggregation % pod_aggregation(f);

	return (struct mf_fat_tree_link){
		.class = MF_FAT_TREE_AGGREGATION_CORE,
		.from = f->tor + aggregation,
		.to = f->tor + f->aggregation + within_pod * group(f) + i % group(f),
	};
}

struct mf_fat_tree_link mf_fat_tree_link(const struct mf_fat_tree *f, uint32_t link)
{
	uint32_t upper = f->servers + f->tor * pod_aggregation(f);

	if (link >= upper)
		return aggregation_core(f, link - upper);
	if (link >= f->servers)
		return tor_aggregation(f, link - f->servers);
	return (struct mf_fat_tree_link){
		.class = MF_FAT_TREE_SERVER_TOR, .from = link, .to = link / (f->servers / f->tor)};
}

double mf_fat_tree_subscription(const struct mf_fat_tree *f, enum mf_fat_tree_class class)
{
	double down, up;

	if (class == MF_FAT_TREE_AGGREGATION_CORE) {
		down = (double)f->rate[MF_FAT_TREE_TOR_AGGREGATION] * (f->tor / pods(f));
		up = (double)f->rate[MF_FAT_TREE_AGGREGATION_CORE] * group(f);
	} else {
		down = (double)f->rate[MF_FAT_TREE_SERVER_TOR] * (f->servers / f->tor);
		up = (double)f->rate[MF_FAT_TREE_TOR_AGGREGATION] * pod_aggregation(f);
	}
	return up > 0 ? down / up : 0;
}
