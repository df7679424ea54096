/* SPDX-License-Identifier: BSD-3-Clause */
/* memfab-trace: makes, converts and describes traces. */
#include <stdio.h>

#include "interrupt.h"
#include "output.h"
#include "program.h"
#include "trace.h"

const char program_name[] = "memfab-trace";

int main(int argc, char **argv)
{
	struct options o;
	char err[ERR_LEN];

	output_begin();
	interrupt_clean();
	if (options_parse(&o, argc, argv, err, sizeof(err)) != 0)
		return complain(USAGE, err);
	switch (o.command) {
	case COMMAND_GEN:
		return output_end(gen(&o));
	case COMMAND_CONVERT:
		return output_end(convert(&o));
	case COMMAND_INFO:
		return output_end(info(&o));
	default:
		return program_run(&(struct request){.help = o.command == COMMAND_HELP,
						     .version = o.command == COMMAND_VERSION},
				   options_help, NULL);
	}
}
