/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fat tree by its counts. Switches and links are computed when they are asked for, and nothing is stored.
 *
 *      core 0  core 1   core 2  core 3      A core switch has one link into each pod, always to the
 *          \     /          \     /          aggregation switch of the same place there. Here cores 0 and 1
 *          agg 0, 2         agg 1, 3         have links to agg 0 and agg 2, the others to agg 1 and agg 3.
 *
 *       agg 0   agg 1     agg 2   agg 3
 *         |  \ /  |         |  \ /  |         Within a pod each ToR has a link to each aggregation switch.
 *       tor 0   tor 1     tor 2   tor 3
 *        / \     / \       / \     / \        Each server has a link to one ToR.
 *       0   1   2   3     4   5   6   7
 *           pod 0             pod 1
 *
 * Two tiers (leaf and spine): no core switches and no pods. One switch: one ToR alone.
 *
 * SRNIC (Wang et al., NSDI 2023, section 6.3) simulates 16 to 4,096 servers with (ToR, aggregation, core)
 * switches of (1, 0, 0), (4, 4, 0), (8, 8, 0), (64, 64, 16) and (128, 128, 64). Servers have links of 100
 * Gb/s, switches links of 400 Gb/s, each link 1 us of delay, and no layer is oversubscribed (1:1). The paper
 * does not give the number of servers for each setting, nor of pods. 16, 64, 256, 1,024 and 4,096 servers,
 * and 16 pods for the two largest settings, are the counts that give 1:1 with one link between two switches.
 */
#ifndef MF_FAT_TREE_H
#define MF_FAT_TREE_H

#include <stddef.h>
#include <stdint.h>

/** The greatest count of each kind. */
#define MF_FAT_TREE_MAX 65536
/** The greatest number of links. */
#define MF_FAT_TREE_LINKS (UINT32_C(1) << 24)
/** Space for a name. */
#define MF_FAT_TREE_NAME 16

/** What a link joins; places in mf_fat_tree.rate. */
enum mf_fat_tree_class {
	MF_FAT_TREE_SERVER_TOR,
	MF_FAT_TREE_TOR_AGGREGATION,
	MF_FAT_TREE_AGGREGATION_CORE,
	MF_FAT_TREE_CLASSES
};

struct mf_fat_tree {
	uint32_t servers, tor; /**< 1 or more */
	uint32_t aggregation; /**< 0: one ToR is all */
	uint32_t core; /**< 0: two tiers */
	uint32_t pods; /**< with core switches 2 or more, else 0 or 1 */
	uint64_t rate[MF_FAT_TREE_CLASSES]; /**< bit/s; only mf_fat_tree_subscription() needs them */
};

/**
 * Switches are numbered from 0: ToR switches, then aggregation switches, then core switches.
 */
struct mf_fat_tree_link {
	enum mf_fat_tree_class class;
	uint32_t from; /**< SERVER_TOR: the number of the server; else a switch, the lower one in the tree */
	uint32_t to; /**< a switch */
};

/**
 * Whether there is such a tree. If a count does not divide, the message names the nearest counts that do.
 *
 * @param err  one line of text without its end, of at most len bytes with the NUL; only if it is refused
 * @return 0 or -EINVAL
 */
int mf_fat_tree_check(const struct mf_fat_tree *f, char *err, size_t len);

/* The functions below are for trees that mf_fat_tree_check() has accepted. Any thread may call them. */

uint32_t mf_fat_tree_switches(const struct mf_fat_tree *f);
uint32_t mf_fat_tree_links(const struct mf_fat_tree *f);

/** "tor0", "agg3", "core12": numbered within their layer. @return buf, which has MF_FAT_TREE_NAME bytes */
char *mf_fat_tree_name(const struct mf_fat_tree *f, uint32_t sw, char *buf);

/**
 * Links are ordered by class, then by the lower end, then by the upper end.
 * @param link  below mf_fat_tree_links()
 */
struct mf_fat_tree_link mf_fat_tree_link(const struct mf_fat_tree *f, uint32_t link);

/**
 * By how much a layer is oversubscribed: the rate of a switch's links downwards over that of its links
 * upwards.
 * @param class  of the links upwards: MF_FAT_TREE_TOR_AGGREGATION of ToR switches, _AGGREGATION_CORE of
 *               aggregation switches
 * @return 1: not at all; 0: there are no such links, or their rate is 0
 */
double mf_fat_tree_subscription(const struct mf_fat_tree *f, enum mf_fat_tree_class class);

#endif
