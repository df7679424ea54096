/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "history_option.h"
#include "linear/mf_history.h"
#include "program.h"

int history_option_write(const struct mf_fabric *f, struct output *out)
{
	const struct mf_history *history = mf_fabric_history(f);
	mf_time full;

	if (!out->to.open || history == NULL)
		return SOUND;
	full = mf_history_full(history);
	if (full != MF_NEVER)
		fprintf(stderr,
			"%s: --history: its room was full after %" PRIu64
			" us; what began later is not in it (room=SIZE gives more)\n",
			program_name, full / MF_US(1));
	return output_written(out, mf_history_write(history, output_file(out)));
}
