/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Physical pages that a response or chunk still reads from. A page that is unmapped meanwhile goes back to
 * the slow path when the last of them lets it go, not before. So no read sees what the next owner writes.
 *
 *      ── hold ──> held ── let_go, the last one ──> none
 *                   └─ unmap ──> gone ── let_go, the last one ──> none: it goes back
 *
 * One thread, that of the fast path. Nothing is allocated after mf_pins_new().
 */
#ifndef MF_PINS_H
#define MF_PINS_H

#include <stdbool.h>
#include <stdint.h>

#define MF_PINS_MAX (UINT32_C(1) << 24)

struct mf_pins;

/** @param pages  that may be held at a time, 1..MF_PINS_MAX. @return NULL with errno: EINVAL, ENOMEM */
struct mf_pins *mf_pins_new(uint32_t pages);
void mf_pins_free(struct mf_pins *p);

/**
 * Adds a holder of a page, which must be mapped.
 * @return false: as many pages as may be are held already, and nothing has changed
 */
bool mf_pins_hold(struct mf_pins *p, uint32_t page);

/**
 * A holder lets a page go. Caller's error if nothing holds it: asserted.
 * @return it was unmapped, and nothing holds it now: it goes back
 */
bool mf_pins_let_go(struct mf_pins *p, uint32_t page);

/**
 * A page is not mapped any more.
 * @return nothing holds it: it goes back now. false: mf_pins_let_go() will say when
 */
bool mf_pins_unmap(struct mf_pins *p, uint32_t page);

/** Holds that are not let go yet. */
uint64_t mf_pins_held(const struct mf_pins *p);

/** Pages that are held. */
uint32_t mf_pins_pages(const struct mf_pins *p);

/** All that it takes of memory, part of `state_octets`. */
uint64_t mf_pins_octets(const struct mf_pins *p);

#endif
