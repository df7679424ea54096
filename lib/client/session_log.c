/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/session_log.h"

#include <rte_log.h>

RTE_LOG_REGISTER(session_log, memfab, NOTICE)

void session_log_link(void *ctx, const char *link, const char *end, const char *port,
		      const struct mf_link_status *status)
{
	char text[256];

	(void)ctx;
	if (mf_link_status_text(status, text, sizeof(text)))
		rte_log(status->refused != 0 ? RTE_LOG_WARNING : RTE_LOG_INFO, (uint32_t)session_log,
			"memfab: link of %s, %s's end, port %s %s\n", link, end, port, text);
}

void session_log_device(void *ctx, const char *port, const char *device, const char *what)
{
	(void)ctx;
	rte_log(RTE_LOG_WARNING, (uint32_t)session_log, "memfab: port %s: the interface of %s %s\n", port,
		device, what);
}

void session_log_waiting(void *ctx, const char *whom)
{
	(void)ctx;
	rte_log(RTE_LOG_NOTICE, (uint32_t)session_log, "memfab: waiting for %s\n", whom);
}
