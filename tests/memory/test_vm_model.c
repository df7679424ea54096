/* SPDX-License-Identifier: BSD-3-Clause */
/* Virtual memory against a model, over many seeds. MF_LONG: more of them. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "vm_model.h"

#define SEED 0x5eed0041
#define SEEDS 12
#define STEPS 100000

Test(vm_model, random_programs)
{
	unsigned int seeds = getenv("MF_LONG") != NULL ? 40 * SEEDS : SEEDS;
	struct vm_model_seen s = {0};

	for (unsigned int i = 0; i < seeds; i++) {
		const char *wrong = vm_model_run(SEED + i, STEPS, &s);

		cr_assert_null(wrong, "seed %u: %s", SEED + i, wrong);
	}
	for (unsigned int i = 0; i < sizeof(s.forged) / sizeof(s.forged[0]); i++)
		cr_expect_gt(s.forged[i], 1000, "wrong keys of kind %u", i);
	cr_expect(s.passed > 10000 && s.refused > 10000 && s.unsure > 100 && s.crossings > 1000 &&
			  s.second_refused > 100,
		  "%lu passed, %lu refused, %lu unsure, %lu crossings, %lu second pages", s.passed, s.refused,
		  s.unsure, s.crossings, s.second_refused);
	cr_expect(s.dry_ring > 100 && s.full_ring > 100 && s.unpinned > 100 && s.holds > 1000 && s.late > 100,
		  "%lu dry, %lu full, %lu unpinned, %lu holds, %lu late", s.dry_ring, s.full_ring, s.unpinned,
		  s.holds, s.late);
	cr_expect(s.allocated > 1000 && s.alloc_failed > 100 && s.freed > 1000 && s.protected > 500 &&
			  s.fenced > 100 && s.overlapped > 1000,
		  "%lu allocated, %lu failed, %lu freed, %lu protected, %lu fenced, %lu overlapped",
		  s.allocated, s.alloc_failed, s.freed, s.protected, s.fenced, s.overlapped);
	cr_expect(s.made > 50 && s.ended > 50 && s.taken > 50 && s.restarts > 5,
		  "%lu made, %lu ended, %lu rights taken, %lu restarts", s.made, s.ended, s.taken,
		  s.restarts);
	cr_expect(s.range_failed > 100 && s.space_failed > 20 && s.come_back > 50,
		  "%lu without a range, %lu without a space, all was back %lu times", s.range_failed,
		  s.space_failed, s.come_back);
}
