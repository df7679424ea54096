/* SPDX-License-Identifier: BSD-3-Clause */
#include "interrupt.h"

#include <signal.h>
#include <stdbool.h>

atomic_bool interrupted;

static void on_signal(int signal_number)
{
	(void)signal_number;
	atomic_store_explicit(&interrupted, true, memory_order_relaxed);
}

void interrupt_catch(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}
