/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "workload/sequence.h"

static uint64_t *seen_word(struct sequence *s, uint64_t number)
{
	return &s->seen[number % MF_ETHER_WINDOW / 64];
}

static uint64_t seen_bit(uint64_t number)
{
	return UINT64_C(1) << number % 64;
}

/** The window moves on to number: those that it skips have not been seen. */
static void skip_to(struct sequence *s, uint64_t number)
{
	if (number - s->next >= MF_ETHER_WINDOW)
		memset(s->seen, 0, sizeof(s->seen));
	else
		for (uint64_t n = s->next; n < number; n++)
			*seen_word(s, n) &= ~seen_bit(n);
}

enum sequence_verdict sequence_take(struct sequence *s, uint64_t number, uint64_t *gap)
{
	enum sequence_verdict verdict = SEQUENCE_LATE;

	*gap = 0;
	if (number >= s->next) {
		*gap = number - s->next;
		skip_to(s, number);
		s->next = number + 1;
		verdict = SEQUENCE_NEW;
	} else if (s->next - number > MF_ETHER_WINDOW || (*seen_word(s, number) & seen_bit(number)) != 0) {
		return SEQUENCE_AGAIN;
	}
	*seen_word(s, number) |= seen_bit(number);
	s->received++;
	return verdict;
}
