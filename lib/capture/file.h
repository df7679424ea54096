/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of a capture, and the formats that there are. */
#ifndef CAPTURE_FILE_H
#define CAPTURE_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "config/mf_config.h"
#include "file/mf_output.h"

#define CAPTURE_SNAP 65535 /**< no frame is longer */

struct capture_file;

/** One direction of a link within a file. */
struct capture_interface {
	char name[2 * MF_CONFIG_NAME_LEN + 24]; /**< "cn0 up", "tor0 to spine1" */
	uint64_t frames, dropped;
};

/** A format, found by the end of the file's name. What cannot be written is told when the file is closed. */
struct capture_format {
	const char *suffix;
	/** @return 0 or -errno */
	int (*begin)(struct capture_file *f);
	/** @param ns  since 1970 */
	void (*put)(struct capture_file *f, unsigned int interface, uint64_t ns, const uint8_t *frame,
		    uint32_t len);
	/** Writes what is left, may close the stream. @param ns  of the last frame @return 0, or -errno */
	int (*close)(struct capture_file *f, uint64_t ns);
};

extern const struct capture_format capture_pcap, capture_pcapng;

/** Keeps the first error of a stream, right after it has been written to. @return it, or 0 */
int capture_file_error(struct capture_file *f);

struct capture_file {
	const struct capture_format *format;
	struct mf_output output;
	FILE *out; /**< its stream; NULL: closed */
	void *state; /**< of the format */
	struct capture_interface *interface;
	unsigned int interfaces;
	int error; /**< the first -errno of what was written; nothing more is then */
	uint64_t frames, octets, dropped;
};

#endif
