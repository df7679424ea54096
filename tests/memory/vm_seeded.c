/* SPDX-License-Identifier: BSD-3-Clause */
/* Bugs on purpose (mf_seeded_bug.h): the model finds each of them, and nothing where there is none. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mf_seeded_bug.h"
#include "vm_model.h"

#define SEEDS 8
#define STEPS 20000

/** Runs in a child: an assertion may end it. @return something is wrong with one of the seeds */
static bool finds(enum mf_seeded_bug bug)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child < 0)
		return false;
	if (child == 0) {
		const struct rlimit none = {0};

		(void)setrlimit(RLIMIT_CORE, &none);
		mf_bug_seeded = bug;
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct vm_model_seen seen = {0};
			const char *wrong = vm_model_run(seed, STEPS, &seen);

			if (wrong == NULL)
				continue;
			printf("# seed %lu: %s\n", seed, wrong);
			fflush(stdout);
			_exit(1);
		}
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child)
		return bug == MF_BUG_NONE;
	if (WIFEXITED(status) && WEXITSTATUS(status) <= 1)
		return WEXITSTATUS(status) == 1;
	return bug == MF_BUG_NONE || (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void)
{
	static const struct {
		enum mf_seeded_bug bug;
		const char *name;
	} bugs[] = {
#define BUG(name) {MF_BUG_##name, #name},
		MF_SEEDED_VM_BUGS(BUG)
#undef BUG
	};
	const unsigned int n = sizeof(bugs) / sizeof(bugs[0]);

	printf("1..%u\n", n + 1);
	printf("%s 1 - nothing is wrong without a bug\n", finds(MF_BUG_NONE) ? "not ok" : "ok");
	for (unsigned int i = 0; i < n; i++)
		printf("%s %u - %s is found\n", finds(bugs[i].bug) ? "ok" : "not ok", i + 2, bugs[i].name);
	return 0;
}
