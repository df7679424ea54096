/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which incarnation each node has, and who knows it. A node that was started again, or whose links were lost,
 * begins another one, and with the ids that it had before. What others have answered to its incarnation
 * before may still be on its way then, and nothing of it says so: it would be taken for an answer to the new
 * one.
 *
 * So all others are told of an incarnation (MF_ERR_RESTARTED, MF_ERR_INCARNATION) before anything of that
 * node passes to them, and each says that it has heard (MF_ERR_INCARNATION of its own), behind all that it
 * had sent before. Until then nothing passes from it that answers that node, and no request to it: what was
 * asked of a former incarnation, and done, may be sent again just before its asker is told. Either word may
 * be lost: it is said again until heard, less and less often, as it may also wait at a node that takes
 * nothing.
 *
 * Of two switches one may hear first that an incarnation is known, by what the other one has told, and of the
 * incarnation itself later. So the last that each has said to know is remembered.
 */
#ifndef SYSTEMS_EDM_SWITCH_INCARNATION_H
#define SYSTEMS_EDM_SWITCH_INCARNATION_H

#include "systems/edm/switch/switch_priv.h"

/** Of a node, by its port. */
struct incarnation {
	uint16_t number; /**< 1..MF_INCARNATION_MAX; 0: it is not known */
	bool news; /**< who was there before may know another one */
	uint32_t since; /**< place in the order in which incarnations were heard of */
	mf_time at; /**< when it is said again, if it is not heard by then */
	mf_time pause; /**< so long after the last time */
	uint64_t untold[MF_PORTS_MAX / 64]; /**< ports that are to be told before anything of it passes */
	uint64_t unheard[MF_PORTS_MAX / 64]; /**< ports that have not said that they know it */
};

struct incarnations {
	mf_time again; /**< what is not heard is said again after so long; 0: never */
	mf_time tick; /**< MF_NEVER: all is heard, but for those that have no link */
	uint32_t begun; /**< incarnations that were heard of */
	uint16_t *known; /**< [of * ports + by]: an incarnation that a node has said to know before it was
			    heard of here; 0: none. NULL: there is one switch */
	struct incarnation of[]; /**< [ports] */
};

int incarnation_init(struct mf_switch *sw, const struct mf_switch_config *config);
void incarnation_fini(struct mf_switch *sw);

/**
 * A node has another incarnation than it had, or one where none was known. All others are to be told.
 * @param news  they may know another one
 */
void incarnation_begin(struct mf_switch *sw, uint16_t node, uint16_t number, bool news, mf_time now);
/** A node has forgotten the incarnations of all others, and is to be told. */
void incarnation_ignorant(struct mf_switch *sw, uint16_t node, mf_time now);
/** No incarnation is known of anybody. */
void incarnation_forget(struct mf_switch *sw);
/** What a node had for others is lost: nothing of that is to be waited for. */
void incarnation_cut(struct mf_switch *sw, uint16_t node);
/**
 * The link of a node is there again. What it was told, and has not answered, may be lost: it is told again
 * before anything else. What others have not answered of its own incarnation was not said again meanwhile.
 */
void incarnation_doubt(struct mf_switch *sw, uint16_t node, mf_time now);
/** Tells the others of the incarnation of a node, those that are to be told. @return false: no room, again
 * later */
bool incarnation_tell(struct mf_switch *sw, uint16_t node, mf_time now);
/** Tells one what it is to be told of the others. @return false: no room, again later */
bool incarnation_tell_to(struct mf_switch *sw, uint16_t to, mf_time now);
/**
 * A node has said that it knows the incarnation of another one.
 * @return whether that is an incarnation that is still to be heard of here, and it is said for the first time
 */
bool incarnation_heard(struct mf_switch *sw, uint16_t from, uint16_t of, uint16_t number);
/** Whether a node has said that it knows an incarnation of another one that was not heard of here yet. */
bool incarnation_foreseen(const struct mf_switch *sw, uint16_t from, uint16_t of, uint16_t number);
/** Says again what was not heard. @return the next time */
mf_time incarnation_run(struct mf_switch *sw, mf_time now);

/** Whether what one node answers another one may be for a former incarnation of that. */
static inline bool incarnation_bar(const struct mf_switch *sw, unsigned int from, unsigned int to)
{
	return unlikely(sw->barring != 0) && test_bit(sw->incarnations->of[to].unheard, from);
}

/** Whether a node may know another incarnation of one than it has. */
static inline bool incarnation_is_news(const struct incarnations *l, uint16_t to, uint16_t of)
{
	return l->of[of].news && l->of[of].since > l->of[to].since;
}

/**
 * Whether what one node asks another one may have been asked of a former incarnation of that, which has done
 * it. Who has two switches calls it back itself (MF_NOTIFY in an ERR).
 */
static inline bool incarnation_bar_request(const struct mf_switch *sw, uint16_t from, uint16_t to)
{
	return incarnation_bar(sw, from, to) && sw->standby == NULL &&
	       incarnation_is_news(sw->incarnations, from, to);
}

#endif
