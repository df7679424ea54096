/* SPDX-License-Identifier: BSD-3-Clause */
#include "interrupt.h"

#include <signal.h>
#include <stdbool.h>

#include "file/mf_output.h"

atomic_bool interrupted;

/** Ends by the signal, as if it had not been caught, and leaves no half of a file. */
static void end_by(int number)
{
	mf_output_give_up_all();
	signal(number, SIG_DFL);
	raise(number); /* comes when the handler returns */
}

/*
 * A terminal that is closed says so more than once, by its kernel and by its shell: that is no demand to end
 * at once.
 */
static void on_signal(int number)
{
	static volatile sig_atomic_t seen[NSIG];

	if (seen[number] && number != SIGHUP)
		end_by(number);
	seen[number] = 1;
	atomic_store_explicit(&interrupted, true, memory_order_relaxed);
}

/** What the caller ignores stays ignored: that is how nohup says it. */
static void catch_unless_ignored(int number, const struct sigaction *action)
{
	struct sigaction now;

	if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		sigaction(number, action, NULL);
}

void interrupt_catch(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	catch_unless_ignored(SIGHUP, &action);
	signal(SIGPIPE, SIG_IGN);
}

void interrupt_clean(void)
{
	static const int number[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	struct sigaction action = {.sa_handler = end_by};

	for (unsigned int i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		catch_unless_ignored(number[i], &action);
}
