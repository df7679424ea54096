/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The socket of a memif port, as its `device` says, and whether this machine lets a process have it. Both
 * ends are judged here, so both are refused with the same words.
 */
#ifndef MF_MEMIF_H
#define MF_MEMIF_H

#include <stdbool.h>
#include <stddef.h>

#include "config/mf_config.h"

struct memif {
	bool server;
	bool file; /**< the socket is a file; else its name is abstract */
	char path[MF_CONFIG_DEVICE_LEN];
};

/** @param device  name and arguments, as EAL takes them @return false: it is no memif */
bool memif_read(const char *device, struct memif *out);

/** Whether an address has room for the path, wherever it is used. @return false with one line in why */
bool memif_fits(const struct memif *m, char *why, size_t capacity);

/**
 * Whether this process could have its end of the socket now: the folder, what stands there, rights. Changes
 * nothing. That another process serves the socket is no fault here.
 * @param root  of all absolute paths; "": this machine's
 * @return 0, or -errno with one line in why
 */
int memif_check(const struct memif *m, const char *root, char *why, size_t capacity);

/** The driver takes no path without a folder, nor one in the root: the same place as it takes it. */
#define MEMIF_HERE_LEN 16
void memif_driver_path(const struct memif *m, char *out, size_t capacity);

#endif
