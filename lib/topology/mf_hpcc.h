/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topology files of HPCC (Li et al., SIGCOMM 2019), the simulator on ns-3 that many later papers use:
 *
 *     5 1 4                        nodes, switches among them, links
 *     4                            the ids of the switches, perhaps on several lines
 *     0 4 100Gbps 1000ns 0.000000  a link: both ids, rate, delay, share of packets that are lost
 *     1 4 100Gbps 0.001ms 0
 *     ...
 *
 * Lines that are blank do not count. Below the links there may be notes, as in files of HPCC, if they do not
 * begin with a digit: HPCC ignores all that is there, and so also links that the first line does not count.
 * This reader refuses them.
 */
#ifndef MF_HPCC_H
#define MF_HPCC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mf_time.h"

/** The greatest number of nodes, switches included. */
#define MF_HPCC_NODES 65536
/** Space that is enough for each message. */
#define MF_HPCC_ERROR 160

struct mf_hpcc_link {
	uint32_t node[2]; /**< ids; never the same one twice */
	uint64_t rate; /**< bit/s, above 0 and below 2^63 */
	mf_time delay; /**< below 2^63 ps */
	double loss; /**< 0..1 */
	uint64_t line; /**< where it stands in the file, from 1 */
};

struct mf_hpcc {
	uint32_t nodes; /**< switches included; ids are below */
	uint32_t switches;
	uint32_t links;
	bool *is_switch; /**< by id */
	struct mf_hpcc_link *link; /**< in the order of the file */
};

/**
 * Reads a file's text. Any thread may call it.
 *
 * Rates have a unit of bps, kbps, Kbps, Mbps, Gbps or Tbps (thousands), delays one of mf_unit_time(). A point
 * and digits may follow the digits, if the result is whole bits a second and picoseconds.
 *
 * @param text  of len bytes, any bytes at all; not kept. No NUL is needed at its end
 * @param out   set if 0 is returned; the caller frees it by mf_hpcc_free()
 * @param err   "line 3: ...", one line without its end, of at most err_len bytes with the NUL; only on
 *              failure
 * @return 0; -EINVAL: something in the text is wrong; -ENOMEM
 */
int mf_hpcc_parse(const char *text, size_t len, struct mf_hpcc **out, char *err, size_t err_len);
/** @param h  or NULL */
void mf_hpcc_free(struct mf_hpcc *h);

#endif
