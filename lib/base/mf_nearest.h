/* SPDX-License-Identifier: BSD-3-Clause */
/* The word that somebody has meant: of those that there are, the one that takes the fewest edits. */
#ifndef MF_NEAREST_H
#define MF_NEAREST_H

#define MF_NEAREST_LEN 63 /**< octets of a word; longer ones are near to none */

struct mf_nearest {
	const char *word;
	const char *best; /**< NULL: none was near enough */
	unsigned int edits; /**< to .best; the first of several with as few is the best */
};

/**
 * Begins to look for a word's nearest one.
 * @param word  as it was written; kept
 */
void mf_nearest_begin(struct mf_nearest *n, const char *word);
/**
 * Looks at a word that there is. An edit is an octet put in, left out or changed, or two neighbours in the
 * other order. A third of the longer word may be edited, or one octet.
 * @param there  kept if it is the nearest so far
 */
void mf_nearest_look(struct mf_nearest *n, const char *there);

#endif
