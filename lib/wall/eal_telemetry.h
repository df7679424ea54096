/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The place of telemetry's socket. EAL goes on where it cannot make the folder, and then telemetry puts its
 * socket where nobody looks for it, or nowhere; so that is looked at before and after EAL starts.
 */
#ifndef EAL_TELEMETRY_H
#define EAL_TELEMETRY_H

#include <stddef.h>

/**
 * Makes the folder that EAL is going to use for a --file-prefix, as EAL does.
 * @param folder  set to it
 * @return 0, or -errno with one line in why
 */
int eal_telemetry_prepare(const char *prefix, char *folder, size_t room, char *why, size_t whylen);

/** Whether telemetry answers in that folder. @return 0, or -errno with one line in why */
int eal_telemetry_answers(const char *folder, char *why, size_t whylen);

#endif
