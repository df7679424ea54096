/* SPDX-License-Identifier: BSD-3-Clause */
/* Ctrl-C: the first one asks for the report, a second one ends the program at once. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdatomic.h>

/** Set by the signal handler, for mf_run_options.interrupt. */
extern atomic_bool interrupted;

/**
 * Catches SIGINT, SIGTERM and, unless it is ignored (nohup), SIGHUP. SIGPIPE is ignored: who reads the
 * report may leave early (head), what is written to a file is still written, and EAL stopped.
 */
void interrupt_catch(void);

/** For a program that has nothing to report: those signals end it, and it leaves no half of a file. */
void interrupt_clean(void);

#endif
