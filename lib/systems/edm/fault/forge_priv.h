/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the forger (forge.h): what it knows, and what it has under way. */
#ifndef FORGE_PRIV_H
#define FORGE_PRIV_H

#include "systems/edm/fault/forge.h"

#define FORGE_IDS (MF_IDS - MF_FAULT_FORGE_ID)
#define FORGE_RIGHTS 3 /**< to read, to write, both: as mf_region.h numbers them */
#define FORGE_OCTETS 64 /**< of a message at most */
#define FORGE_HEARD 64 /**< blocks of a message that is listened to: answers to what is asked are shorter */

/** How far a spy is with its region. CLAIMS, READS, WRITES and RELEASES wait for an answer. */
enum spy_phase { SPY_NONE, SPY_CLAIMS, SPY_OWNS, SPY_READS, SPY_READ, SPY_WRITES, SPY_WROTE, SPY_RELEASES };

/** A region that is claimed, looked at and given up. */
struct spy {
	enum spy_phase phase;
	unsigned int region;
	unsigned int turn; /**< fault_forge.turn when the phase began */
	uint8_t id;
};

/** A message under way, by its id. */
struct forged {
	bool honest; /**< of the spy, who may do it */
	uint16_t dst, use;
	struct mf_msg write; /**< the chunk to send once it is granted; kind MF_KIND_NONE: it is no write */
	uint64_t data[FORGE_OCTETS / 8];
	bool granted; /**< and the chunk not sent yet */
};

struct fault_forge {
	struct mf_fault_secrets secrets;
	struct mf_proto proto;
	uint16_t node;
	unsigned int turn; /**< messages so far: the next one's id is of it */
	struct forged out[FORGE_IDS];
	struct spy spy;
	unsigned int granted; /**< chunks that wait to be sent */
	uint64_t (*last)[FORGE_RIGHTS]; /**< [regions]: the keys seen last, */
	uint64_t (*former)[FORGE_RIGHTS]; /**< and those of the epoch before; 0: none seen */
	uint64_t heard[FORGE_HEARD]; /**< the message that is coming */
	unsigned int blocks; /**< of it; 0: none is */
	struct mf_forge_stats stats;
};

/* forge.c */

/** A region of another node, at random: nobody asks himself. */
unsigned int forge_region(const struct fault_forge *g, struct mf_rng *rng);
/** Gives a message the next id and its use. @return what is known of it from now on */
struct forged *forge_number(struct fault_forge *g, struct mf_msg *m);
/** @param data  of a chunk; NULL: a request @return blocks */
unsigned int forge_put(const struct fault_forge *g, const struct mf_msg *m, const void *data, uint64_t *word);

/* forge_flaw.c */

/** What there is to know of a right now; the key of the epoch before is kept. */
struct mf_fault_secret forge_look_up(struct fault_forge *g, unsigned int region, unsigned int right);
/** The right that a message needs. */
unsigned int forge_right_of(const struct mf_msg *m);
/** A request, or the chunk of a write, that one thing is wrong with; it has no id yet. */
struct mf_msg forge_flawed(struct fault_forge *g, struct mf_rng *rng);

/* forge_spy.c */

/** The spy's next step. @return blocks; 0: it has none */
unsigned int forge_spy(struct fault_forge *g, struct mf_rng *rng, uint64_t *word);
/** An answer to what the spy has asked. @param data  of a read, or an atomic; else NULL */
void forge_spy_answered(struct fault_forge *g, const struct mf_msg *m, const uint8_t *data);

#endif
