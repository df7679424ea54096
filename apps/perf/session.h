/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session of commands. The thread of the program's start runs the tests: under the wall clock it is
 * EAL's main lcore, and polls. The console, a control thread, holds the prompt. So a fabric has all
 * lcores with a prompt as without, and where there is one CPU only the kernel shares it between the two.
 *
 *                  start                    over
 *        IDLE ------------> ASKED --> RUNNING ------------> IDLE
 *      (console)          (console)  (engine's thread)
 */
#ifndef SESSION_H
#define SESSION_H

#include "options.h"
#include "show.h"

struct session {
	const struct options *options;
	struct run run;
	struct view view;
	pthread_t console;
	struct test test; /**< that is set: the console's */
	int status; /**< exit status so far: the console's */
	bool quit; /**< the console's */
	bool prompting; /**< what is wrong with a command is said at once: the console's */
	char fault[512]; /**< of the command that was given last, or empty: the console's */
	int wake; /**< eventfd: a test is over */
	/* Below run.lock. */
	struct test asked_test;
	bool asked, running, unreported, over;
	int rc; /**< of the test that is over */
};

/**
 * Serves commands to their end: those of a file, then those of the prompt where there is one.
 * @return exit status
 */
int session_run(const struct options *o, struct mf_config *config);

/* For the console. */

/** Something is wrong with a command. */
void session_fault(struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool session_running(struct session *s);
/** Begins the test that is set. */
void session_start(struct session *s);
/** Ends the load, waits for the end of the test, prints the report. */
void session_stop(struct session *s);
/** Waits for the end of the test, at most so long (0: for ever); where it comes, prints the report. */
void session_wait(struct session *s, mf_time most);
/** Prints the report of a test that has ended and was not reported. @return false: there is none */
bool session_report(struct session *s);

/** The console's thread. */
void *console_main(void *session);

#endif
