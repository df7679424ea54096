/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures: what is sent on the links, written into files that Wireshark reads (docs/captures.md). Each span
 * becomes a link frame of type DATA (docs/wire-format.md), dated by its first block.
 */
#ifndef MF_CAPTURE_H
#define MF_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/mf_config.h"

#define MF_CAPTURES_MAX 16 /**< files of a run */

/** What goes into a file. */
struct mf_capture_request {
	char file[4096]; /**< ends in .pcap or .pcapng */
	bool link[MF_NODES_MAX]; /**< by node */
	bool *trunk; /**< [config->trunks], the caller's: links of these; NULL: none of them */
	/**
	 * To the switch, to the node; of a link between switches: from, to the one that comes first in
	 * the file.
	 */
	bool up, down;
};

struct mf_captures;

/**
 * Opens all files, beside their places (mf_output.h), and writes their heads.
 * @param config  of the fabric that is captured; both must outlive the captures' run
 * @param n  1..MF_CAPTURES_MAX
 * @param err  on failure one line
 * @return NULL on failure
 */
struct mf_captures *mf_captures_open(const struct mf_config *config, const struct mf_capture_request *request,
				     unsigned int n, char *err, size_t errlen);

/**
 * Writes what is left, puts the files in their places and frees the rest. A file that could not be written
 * is given up: what was there before stays.
 * @param c    or NULL
 * @param ran  false: the run failed; what nothing was captured in is given up, too
 * @param err  on failure one line that names the file
 * @return 0; or -errno: not all could be written
 */
int mf_captures_close(struct mf_captures *c, bool ran, char *err, size_t errlen);

#endif
