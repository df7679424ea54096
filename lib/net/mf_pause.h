/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Priority-based flow control (IEEE 802.1Qbb; the frame is that of IEEE 802.3 annex 31D): who receives such a
 * frame sends nothing more of the classes that it names until so many quanta of 512 bit times have passed,
 * or until a frame says 0 quanta.
 *
 * A pause is in force from the time at which its frame is whole at the MAC: what would start then is held. So
 * that this hangs on dates alone, and not on who is called first, a frame may be told ahead of its date. At
 * a port of the switch what goes out without a gap goes before what arrives then, a pause, too
 * (mf_output_queue.h).
 */
#ifndef MF_PAUSE_H
#define MF_PAUSE_H

#include "base/mf_time.h"
#include "net/mf_packet.h"

#define MF_PAUSE_LEN 60 /**< without FCS */
#define MF_PAUSE_ETHER_TYPE 0x8808 /**< MAC control */
#define MF_PAUSE_OPCODE 0x0101
/** A quantum in blocks of 64 bits of data. */
#define MF_PAUSE_QUANTUM_BLOCKS 8
/** The wall clock knows no line rate: a block as at 100 Gb/s. */
#define MF_PAUSE_WALL_PERIOD 640

/** What one end of a link has been told. */
struct mf_pause {
	mf_time until[MF_CLASSES];
	mf_time told[MF_CLASSES]; /**< the same of a frame that has not come into force, */
	mf_time at; /**< and when it does; MF_NEVER: there is none. Set by mf_pause_init() */
	uint8_t named; /**< classes that it speaks of */
	uint64_t pauses, resumes, bad; /**< frames: with a class to pause, with none, and damaged ones */
};

static inline bool mf_pause_is_control(const uint8_t *frame, uint16_t len)
{
	return len >= RTE_ETHER_HDR_LEN && frame[12] == MF_PAUSE_ETHER_TYPE >> 8 &&
	       frame[13] == (MF_PAUSE_ETHER_TYPE & 0xff);
}

static inline void mf_pause_init(struct mf_pause *p)
{
	*p = (struct mf_pause){.at = MF_NEVER};
}

/** What is in force by now. To be called when `at` has come. */
static inline void mf_pause_run(struct mf_pause *p, mf_time now)
{
	if (p->at > now)
		return;
	for (unsigned int c = 0; c < MF_CLASSES; c++)
		if (p->named >> c & 1)
			p->until[c] = p->told[c];
	p->at = MF_NEVER;
}

/** The link was lost: nothing that was told by it holds any more. What is counted stays. */
static inline void mf_pause_clear(struct mf_pause *p)
{
	memset(p->until, 0, sizeof(p->until));
	p->at = MF_NEVER;
}

/** How long so many quanta last. @param period  ps a block; 0: wall clock */
static inline mf_time mf_pause_time(uint16_t quanta, uint32_t period)
{
	return (mf_time)quanta * MF_PAUSE_QUANTUM_BLOCKS * (period != 0 ? period : MF_PAUSE_WALL_PERIOD);
}

/**
 * A MAC control frame has come. It is in force from mf_pause_run() on, the one before from now on: a frame
 * lasts longer than what it may be told ahead.
 * @param at      when it is whole
 * @param period  ps a block of the link; 0: wall clock
 * @return false: it is none of PFC, or damaged; counted
 */
static inline bool mf_pause_take(struct mf_pause *p, mf_time at, uint32_t period, const uint8_t *frame,
				 uint16_t len)
{
	static const uint8_t group[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
	bool pauses = false;

	if (len < MF_PAUSE_LEN || memcmp(frame, group, sizeof(group)) != 0 ||
	    frame[14] != MF_PAUSE_OPCODE >> 8 || frame[15] != (MF_PAUSE_OPCODE & 0xff) || frame[16] != 0) {
		p->bad++;
		return false;
	}
	mf_pause_run(p, at);
	p->at = at;
	p->named = frame[17];
	for (unsigned int c = 0; c < MF_CLASSES; c++) {
		uint16_t quanta = (uint16_t)(frame[18 + 2 * c] << 8 | frame[19 + 2 * c]);

		if ((frame[17] >> c & 1) == 0)
			continue;
		p->told[c] = quanta != 0 ? at + mf_pause_time(quanta, period) : 0;
		pauses |= quanta != 0;
	}
	if (pauses)
		p->pauses++;
	else
		p->resumes++;
	return true;
}

static inline bool mf_pause_paused(const struct mf_pause *p, unsigned int class, mf_time now)
{
	return p->until[class] > now;
}

/**
 * Writes such a frame of a switch's port: MF_PAUSE_LEN octets.
 * @param classes  that it names, a bit each
 * @param quanta   of each; 0: it may send again
 */
static inline uint16_t mf_pause_put(uint8_t *frame, uint16_t port, uint8_t classes,
				    const uint16_t quanta[MF_CLASSES])
{
	const uint8_t head[18] = {0x01,
				  0x80,
				  0xc2,
				  0x00,
				  0x00,
				  0x01,
				  0x02,
				  0x00,
				  0x00,
				  0x01,
				  (uint8_t)(port >> 8),
				  (uint8_t)port,
				  MF_PAUSE_ETHER_TYPE >> 8,
				  MF_PAUSE_ETHER_TYPE & 0xff,
				  MF_PAUSE_OPCODE >> 8,
				  MF_PAUSE_OPCODE & 0xff,
				  0,
				  classes};

	memset(frame, 0, MF_PAUSE_LEN);
	memcpy(frame, head, sizeof(head));
	for (unsigned int c = 0; c < MF_CLASSES; c++)
		if (classes >> c & 1) {
			frame[18 + 2 * c] = (uint8_t)(quanta[c] >> 8);
			frame[19 + 2 * c] = (uint8_t)quanta[c];
		}
	return MF_PAUSE_LEN;
}

#endif
