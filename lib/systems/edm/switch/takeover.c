/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of two switches schedules (docs/fault-tolerance.md). Nodes tell by TAKE whom they obey, and a switch
 * goes by what most of those say that it has links to, so that none of them can depose it. A node that has
 * lost its cable is alone with what it wants: the standby has the others ask the active switch whether that
 * is so, and only that one, which sees it, gives way.
 *
 * TAKE may be lost on the way. It is said again until it is heard, by both sides; who has heard all is
 * silent.
 */
#include <errno.h>
#include <stdlib.h>

#include "systems/edm/switch/circuit.h"
#include "systems/edm/switch/incarnation.h"
#include "systems/edm/switch/standby.h"

#define NEWER_MAX 256 /* epochs that a node may be ahead of a switch, and be believed */
#define LONE_TICKS 3 /* times that a node says what nobody else does, until it gets a newer epoch still */
#define CALM_TICKS 16 /* a link that was lost demotes nobody for so long; twice as long each time */
#define CALM_MOST 10 /* doublings */
#define INCARNATION_TICKS \
	4 /* a node has one incarnation in that time: all others are told of each, and answer */
#define INCARNATIONS_AT_ONCE 16 /* and so many more: one that fails again and again is no liar */

int takeover_init(struct mf_switch *sw, const struct mf_switch_config *config)
{
	struct standby *s = sw->standby;

	s->epoch = s->begun = config->epoch;
	s->number = config->number;
	s->knows = config->epoch_known;
	s->again = config->take_again;
	s->tick = MF_NEVER;
	s->port = calloc(sw->shell.ports, sizeof(*s->port));
	if (s->port == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < sw->shell.ports; i++) {
		s->port[i] = (struct log_port){.word = s->epoch, .lone = MF_NEVER};
		if (config->begins && test_bit(sw->reach_set, i)) {
			set_bit(s->told, i);
			set_bit(s->took, i);
		}
	}
	return 0;
}

static unsigned int count(const struct mf_switch *sw, const uint64_t *set)
{
	unsigned int n = 0;

	for (unsigned int w = 0; w <= (sw->shell.ports - 1) / 64; w++)
		n += (unsigned int)__builtin_popcountll(sw->reach_set[w] & set[w]);
	return n;
}

static void arm(struct mf_switch *sw, mf_time at)
{
	sw->standby->tick = mf_time_min(sw->standby->tick, at);
	wake_at(sw, sw->standby->tick);
}

/* ---- to the nodes ---- */

/**
 * Behind all that was let out. A node says that it obeys an epoch behind what it has done by then; what it
 * still gets by grants of the former one it would answer behind that, when the rest has been granted anew.
 */
static void say(struct mf_switch *sw, unsigned int port, const struct mf_msg *m, mf_time now)
{
	struct mf_mux *mux = sw->port[port].shell.mux;
	uint64_t *word = mf_mux_put(mux, mf_mux_behind(mux, now + sw->identify), UINT32_MAX, 1, 0);

	if (word == NULL) { /* it is said again */
		sw->stats.drop_room++;
		return;
	}
	*word = mf_proto_put_single(m);
	switch_dirty(sw, port);
	switch_backlog(sw, port, now);
}

/** What the epoch is, and whether it has heard from the node of a port. */
static void tell(struct mf_switch *sw, unsigned int port, mf_time now)
{
	const struct standby *s = sw->standby;
	uint16_t since = (uint16_t)(s->epoch - s->begun);
	struct mf_msg m = {.kind = MF_TAKE, .op = MF_TAKE_ASK};

	if (!test_bit(sw->reach_set, port))
		return;
	if (s->knows) {
		m.op = test_bit(s->took, port) ? MF_TAKE_HEARD : MF_TAKE_TELL;
		m.epoch = s->epoch;
		m.dst = since < MF_TAKE_SINCE_MAX ? since : MF_TAKE_SINCE_MAX;
	}
	say(sw, port, &m, now);
	if (!test_bit(s->took, port))
		arm(sw, now + s->again);
}

/** One node wants this switch: has it lost the active one? The others pass that on. */
static void ask_others(struct mf_switch *sw, uint16_t lost, mf_time now)
{
	const struct standby *s = sw->standby;
	const struct mf_msg m = {
		.kind = MF_TAKE, .op = MF_TAKE_LOST, .epoch = (uint16_t)(s->epoch + 1), .dst = lost};

	for (unsigned int i = 0; i < sw->shell.ports; i++)
		if (i != lost && test_bit(sw->reach_set, i) && test_bit(s->took, i))
			say(sw, i, &m, now);
}

/* ---- epochs ---- */

/** A node obeys this switch: so do others, and pairs of which both do are released. */
static void release(struct mf_switch *sw, uint16_t port, mf_time now)
{
	struct standby *s = sw->standby;

	for (uint16_t i = 0; i < sw->shell.ports; i++)
		if (i != port && test_bit(s->took, i)) {
			s->owes |= !standby_release(sw, i, port, now);
			s->owes |= !standby_release(sw, port, i, now);
		}
	if (s->owes)
		wake_at(sw, now);
}

/** What had to wait. @return whether some has to, still */
static bool release_rest(struct mf_switch *sw, mf_time now)
{
	struct standby *s = sw->standby;

	s->owes = false;
	for (uint16_t i = 0; i < sw->shell.ports && !standby_idles(s); i++)
		if (test_bit(s->took, i))
			release(sw, i, now);
	return s->owes;
}

/**
 * The incarnation of a node is told to the others, and theirs to it, before anything of a pair passes here.
 * Both switches do so: who has a link to one of them alone hears it, too.
 * @return false: there is no room, and the node will tell again
 */
static bool announced(struct mf_switch *sw, uint16_t port, mf_time now)
{
	return incarnation_tell(sw, port, now) && incarnation_tell_to(sw, port, now);
}

/** The node of a port takes this switch for the primary. */
static void took_epoch(struct mf_switch *sw, uint16_t port, mf_time now)
{
	struct standby *s = sw->standby;

	s->port[port].lone = MF_NEVER;
	if (test_bit(s->took, port) || !announced(sw, port, now))
		return;
	set_bit(s->took, port);
	if (!standby_idles(s))
		release(sw, port, now);
}

/** What the node of a port has told, in the light of the epoch. */
static void weigh(struct mf_switch *sw, uint16_t port, mf_time now)
{
	struct standby *s = sw->standby;
	struct log_port *p = &s->port[port];
	int16_t newer = (int16_t)(p->word - s->epoch);

	if (newer == 0) {
		took_epoch(sw, port, now);
		return;
	}
	clear_bit(s->took, port);
	if (newer < 0) {
		p->lone = MF_NEVER;
	} else if (p->lone == MF_NEVER) {
		p->lone = now;
		arm(sw, now + s->again / 8);
	}
}

/** What others have passed on of the node of a port does not count any more. */
static void forget_lost(struct standby *s, unsigned int port)
{
	memset(s->port[port].lost_by, 0, sizeof(s->port[port].lost_by));
}

/**
 * The epoch is another one. Unless this switch has begun it itself to go on, it is demoted if it was active:
 * even if the epoch is its own again, the other one was active meanwhile.
 */
static void enter(struct mf_switch *sw, uint16_t epoch, bool goes_on, mf_time now)
{
	struct standby *s = sw->standby;
	bool was_active = !standby_idles(s);

	if (!s->knows)
		s->begun = epoch;
	s->epoch = epoch;
	s->knows = true;
	s->demoted = was_active && !goes_on;
	memset(s->took, 0, sizeof(s->took));
	for (unsigned int i = 0; i < sw->shell.ports; i++)
		forget_lost(s, i);
	sw->stats.takes += !was_active && !standby_idles(s);
	if (s->demoted) {
		s->begun = epoch;
		memcpy(s->coming, sw->reach_set, sizeof(s->coming));
	}
	for (uint16_t i = 0; i < sw->shell.ports; i++)
		if (test_bit(sw->reach_set, i) && test_bit(s->told, i) && !s->demoted)
			weigh(sw, i, now);
	for (unsigned int i = 0; i < sw->shell.ports; i++)
		tell(sw, i, now);
}

/** Whether more than half of the nodes that there are, or will be, want this epoch, or a newer one. */
static bool is_wanted(const struct mf_switch *sw, uint16_t epoch)
{
	const struct standby *s = sw->standby;
	uint64_t want[MF_PORTS_MAX / 64] = {0};
	unsigned int coming = 0;

	for (unsigned int i = 0; i < sw->shell.ports; i++)
		if (test_bit(s->told, i) && (int16_t)(s->port[i].word - epoch) >= 0)
			set_bit(want, i);
	for (unsigned int w = 0; w < MF_PORTS_MAX / 64; w++)
		coming += (unsigned int)__builtin_popcountll(s->coming[w]);
	return 2 * count(sw, want) > count(sw, sw->reach_set) + coming;
}

/**
 * A node knows nothing any more of what others have asked it. They are told, and their operations are over:
 * what is in the log of these would be executed a second time.
 */
static void unlog_asked(struct mf_switch *sw, uint16_t port)
{
	for (uint16_t cn = 0; cn < sw->shell.ports; cn++)
		standby_unlog(sw, standby_pair(sw, cn, port));
}

/**
 * The other switch may have told of an incarnation of a node before this one has heard of it. Who says that
 * it has heard of it asks that incarnation from then on.
 */
static void unlog_former(struct mf_switch *sw, uint16_t port, uint16_t incarnation)
{
	for (uint16_t cn = 0; cn < sw->shell.ports; cn++)
		if (incarnation_foreseen(sw, cn, port, incarnation))
			standby_unlog_former(sw, standby_pair(sw, cn, port));
		else
			standby_unlog(sw, standby_pair(sw, cn, port));
}

/**
 * A node begins an incarnation when it is started again, and when it has had no link for a while. Where the
 * incarnation before is not known, who asks what the epoch is was started again, unless all there is was.
 * @return false: it had one just now, and will say again that it has another
 */
static bool note_incarnation(struct mf_switch *sw, uint16_t port, const struct mf_msg *m, mf_time now)
{
	struct standby *s = sw->standby;
	struct log_port *p = &s->port[port];
	uint16_t before = sw->incarnations->of[port].number;
	mf_time each = INCARNATION_TICKS * s->again;
	bool news = before != 0 || (s->knows && (m->op == MF_TAKE_ASK || p->strange));

	if (m->dst == 0)
		return true;
	if (before != m->dst) {
		clear_bit(s->took, port);
		if (p->reborn > now + INCARNATIONS_AT_ONCE * each) {
			clear_bit(s->told, port);
			sw->stats.drop_take++;
			return false;
		}
		p->reborn = mf_time_max(p->reborn, now) + each;
		if (news)
			unlog_former(sw, port, m->dst);
		incarnation_begin(sw, port, m->dst, news, now);
		incarnation_ignorant(sw, port, now);
	}
	announced(sw, port, now);
	return true;
}

/** Whether a node that was alone with wanting this switch goes on with the other one. */
static bool gives_up(const struct standby *s, uint16_t port, uint16_t epoch)
{
	return standby_idles(s) && test_bit(s->told, port) && (s->port[port].word & 1) == s->number &&
	       (epoch & 1) != s->number;
}

/**
 * What the active switch did not hear of such a node, or threw away, is over for who asked, and must not be
 * let out here behind what is asked next.
 */
static void unlog_all(struct mf_switch *sw, uint16_t port)
{
	unlog_asked(sw, port);
	for (uint16_t mn = 0; mn < sw->shell.ports; mn++)
		standby_unlog(sw, standby_pair(sw, port, mn));
}

/** The node of a port has told which epoch's switch it obeys. */
static void told(struct mf_switch *sw, uint16_t port, uint16_t epoch, mf_time now)
{
	struct standby *s = sw->standby;
	int16_t newer = (int16_t)(epoch - s->epoch);

	if (s->knows && newer > NEWER_MAX) {
		sw->stats.drop_take++;
		if (!test_bit(s->took, port)) /* it answers what it is told: at once that would have no end */
			arm(sw, now + s->again);
		return;
	}
	if (s->knows && gives_up(s, port, epoch))
		unlog_all(sw, port);
	s->port[port].word = epoch;
	set_bit(s->told, port);
	if ((!s->knows || newer > 0) && is_wanted(sw, epoch)) {
		enter(sw, epoch, false, now);
		return;
	}
	if (!s->knows)
		return;
	weigh(sw, port, now);
	if (newer <= 0)
		tell(sw, port, now);
}

/**
 * By way of another node, the standby asks whether the link of one is lost. If that has links to all others,
 * it can do more. A link that is lost again and again is no reason.
 */
static void passed_on(struct mf_switch *sw, uint16_t port, const struct mf_msg *m, mf_time now)
{
	struct standby *s = sw->standby;
	struct log_port *p = &s->port[m->dst < sw->shell.ports ? m->dst : 0];

	if (standby_idles(s) || m->epoch != (uint16_t)(s->epoch + 1) || m->dst >= sw->shell.ports ||
	    !link_lost(sw, m->dst) || now < p->calm)
		return;
	set_bit(p->lost_by, port);
	if (count(sw, p->lost_by) + 1 <= count(sw, sw->reach_set))
		return;
	if (now > p->calm + (CALM_TICKS * s->again << p->lost))
		p->lost = 0;
	p->calm = now + (CALM_TICKS * s->again << p->lost);
	p->lost += p->lost < CALM_MOST;
	enter(sw, m->epoch, false, now);
}

void standby_take(struct mf_switch *sw, unsigned int port, const struct mf_msg *m, mf_time now)
{
	struct standby *s = sw->standby;

	if (s->demoted)
		return;
	switch (m->op) {
	case MF_TAKE_TELL:
		if (note_incarnation(sw, (uint16_t)port, m, now))
			told(sw, (uint16_t)port, m->epoch, now);
		break;
	case MF_TAKE_ASK:
		if (!note_incarnation(sw, (uint16_t)port, m, now))
			break;
		clear_bit(s->told, port);
		clear_bit(s->took, port);
		tell(sw, port, now);
		break;
	case MF_TAKE_LOST:
		passed_on(sw, (uint16_t)port, m, now);
		break;
	default: /* a node has heard nothing */
		sw->stats.drop_proto++;
		break;
	}
}

void mf_switch_take(struct mf_switch *sw, unsigned int port, uint16_t epoch, mf_time now)
{
	struct standby *s = sw->standby;

	if (s->demoted)
		return;
	s->port[port].word = epoch;
	set_bit(s->told, port);
	if (!s->knows || (int16_t)(epoch - s->epoch) > 0)
		enter(sw, epoch, false, now);
	else
		told(sw, (uint16_t)port, epoch, now);
}

bool mf_switch_demoted(const struct mf_switch *sw)
{
	return sw->standby != NULL && sw->standby->demoted;
}

bool mf_switch_active(const struct mf_switch *sw, uint16_t *epoch)
{
	if (sw->standby == NULL)
		return true;
	*epoch = sw->standby->epoch;
	return !standby_idles(sw->standby);
}

/* ---- time ---- */

/** A node has wanted a newer epoch for so long, and is alone: it gets one, of which this switch is active. */
static void renew(struct mf_switch *sw, uint16_t wanted, mf_time now)
{
	struct standby *s = sw->standby;

	sw->stats.renewed++;
	enter(sw, (uint16_t)(wanted + ((wanted & 1) != s->number)), true, now);
}

/** A node wants something else than most. @return whether all have another epoch by now */
static bool lone(struct mf_switch *sw, uint16_t port, mf_time now)
{
	struct standby *s = sw->standby;
	const struct log_port *p = &s->port[port];

	if (!standby_idles(s) && now >= p->lone + LONE_TICKS * s->again) {
		renew(sw, p->word, now);
		return true;
	}
	if (standby_idles(s) && (p->word & 1) == s->number)
		ask_others(sw, port, now);
	return false;
}

mf_time takeover_run(struct mf_switch *sw, mf_time now)
{
	struct standby *s = sw->standby;

	if (s->demoted)
		return MF_NEVER;
	if (s->owes && release_rest(sw, now))
		return now;
	if (s->tick > now)
		return s->tick;
	s->tick = MF_NEVER;
	for (uint16_t i = 0; i < sw->shell.ports; i++) {
		if (!test_bit(sw->reach_set, i) || test_bit(s->took, i))
			continue;
		tell(sw, i, now);
		if (s->knows && s->port[i].lone <= now && lone(sw, i, now))
			break;
	}
	return s->tick;
}

void standby_link_up(struct mf_switch *sw, unsigned int port, mf_time now)
{
	struct standby *s = sw->standby;

	clear_bit(s->coming, port);
	s->port[port].since = mf_time_max(now, 1);
	s->port[port].strange = !standby_idles(s);
	incarnation_doubt(sw, (uint16_t)port, now);
	announced(sw, (uint16_t)port, now);
	if (!standby_idles(s)) /* the others have been told that its link was lost */
		unlog_asked(sw, (uint16_t)port);
	forget_lost(s, port);
	tell(sw, port, now);
}

void standby_forget(struct mf_switch *sw)
{
	struct standby *s = sw->standby;

	for (uint32_t i = 0; i < sw->shell.ports * sw->shell.ports; i++) {
		standby_unlog(sw, &s->pair[i]);
		s->pair[i].released = false;
	}
	memset(s->told, 0, sizeof(s->told));
	memset(s->took, 0, sizeof(s->took));
	for (unsigned int i = 0; i < sw->shell.ports; i++) {
		forget_lost(s, i);
		s->port[i].lone = MF_NEVER;
		if (!s->demoted)
			s->port[i].calm = s->port[i].lost = 0;
	}
	if (!s->demoted) {
		memset(s->coming, 0, sizeof(s->coming));
		incarnation_forget(sw);
	}
	s->tick = MF_NEVER;
	s->owes = false;
	s->knows = s->demoted;
	s->demoted = false;
}
