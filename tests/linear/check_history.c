/* SPDX-License-Identifier: BSD-3-Clause */
/* check_history FILE...: checks histories of one run. Exit status: 0 linearizable, 1 not, 2 no answer. */
#include "linear/mf_history.h"

int main(int argc, char **argv)
{
	return mf_history_check_files("check_history", (const char *const *)argv + 1, (unsigned int)argc - 1,
				      stdout);
}
