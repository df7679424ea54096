/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that do nothing but fetch into the caches. */
#ifndef MF_FETCH_H
#define MF_FETCH_H

/** First in such a function: gcc 12 takes it for one without effects otherwise, and leaves out its calls. */
static inline void mf_fetch_only(void)
{
	__asm__ volatile("");
}

#endif
