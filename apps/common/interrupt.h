/* SPDX-License-Identifier: BSD-3-Clause */
/* Ctrl-C: the first one asks for the report, a second one ends the program at once. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdatomic.h>

/** Set by the signal handler, for mf_run_options.interrupt. */
extern atomic_bool interrupted;

/**
 * Catches SIGINT and SIGTERM. SIGPIPE is ignored: who reads the report may leave early (head), what is
 * written to a file is still written, and EAL stopped.
 */
void interrupt_catch(void);

#endif
