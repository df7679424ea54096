/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of a role as a table: the name of each counter, where it stands, and how the counters of several
 * roles become one. The result, telemetry and memfab-perf write what is in the tables. A new counter is a
 * field of the statistics of its role, and a row in the table of that role: docs/rooms/role.md.
 *
 * Stacks and bridges return lists of counters instead, since they compute some of the values.
 */
#ifndef MF_COUNTER_H
#define MF_COUNTER_H

#include <stddef.h>
#include <stdint.h>

/** How the counters of several roles become one. */
enum mf_merge {
	MF_SUM, /**< how many times something happened: adds up */
	MF_MAX, /**< the most there ever was: the largest */
	MF_SAME, /**< a bound or a size that all roles have in common */
	MF_LEVEL, /**< how much there is now: adds up. No difference of two times is shown */
	MF_RATIO, /**< a real number: the quotient of two counters that have rows of their own */
};

/**
 * A row of a table. The counter is a uint64_t in the role's structure of statistics. Rows of one section
 * stand together. A field may have several rows, with the same merge.
 */
struct mf_counter_desc {
	const char *key; /**< as in the JSON: words with underscores. NULL ends a table */
	/** Path of its object in the result: "scheduler", "drops.switch". "*.more": read by its key alone */
	const char *section;
	uint16_t offset; /**< octets, of the counter in the structure */
	uint16_t per; /**< MF_RATIO: of the counter by which that one is divided */
	uint8_t merge; /**< enum mf_merge */
};

/** Offset of a field. It does not compile for a field that is not a uint64_t. */
#define MF_COUNTER_OFFSET(type, field) _Generic(((type *)NULL)->field, uint64_t : offsetof(type, field))

/** A row. @param merge_  all but MF_RATIO */
#define MF_COUNTER(section_, key_, merge_, type, field)                                                   \
	{                                                                                                 \
		.key = (key_), .section = (section_), .offset = MF_COUNTER_OFFSET(type, field), .per = 0, \
		.merge = (merge_)                                                                         \
	}
/** A row of merge MF_RATIO. */
#define MF_COUNTER_RATIO(section_, key_, type, field, per_)                                     \
	{                                                                                       \
		.key = (key_), .section = (section_), .offset = MF_COUNTER_OFFSET(type, field), \
		.per = MF_COUNTER_OFFSET(type, per_), .merge = MF_RATIO                         \
	}

/** The counter at an offset of a structure. */
static inline uint64_t mf_counter_at(const void *stats, uint16_t offset)
{
	return *(const uint64_t *)((uintptr_t)stats + offset);
}

/** A quotient as MF_RATIO has it: 0 where `per` is 0. */
static inline double mf_counter_ratio(uint64_t counter, uint64_t per)
{
	return per > 0 ? (double)counter / (double)per : 0;
}

/** The row of a counter. @return NULL: the table has none */
const struct mf_counter_desc *mf_counter_row(const struct mf_counter_desc *table, const char *section,
					     const char *key);

/**
 * Merges the counters of one role into those of others, each field once. Fields without a row, and rows of
 * merge MF_RATIO, stay as they are.
 * @param sum  zeros, or the counters of the first role
 */
void mf_counters_add(const struct mf_counter_desc *table, void *sum, const void *one);

/** A counter of a list. */
struct mf_counter {
	const char *name; /**< as in the JSON: words with underscores */
	uint64_t value;
	enum mf_merge merge; /**< not MF_RATIO */
};

#define MF_COUNTERS_MAX 48 /**< room of a list */

/** A counter of a list that adds up. */
static inline struct mf_counter mf_counter_sum(const char *name, uint64_t value)
{
	return (struct mf_counter){.name = name, .value = value, .merge = MF_SUM};
}

/** A counter of a list that is the most there ever was. */
static inline struct mf_counter mf_counter_max(const char *name, uint64_t value)
{
	return (struct mf_counter){.name = name, .value = value, .merge = MF_MAX};
}

/** Merges the list of one role into that of others, which has the same n counters in the same order. */
void mf_counter_list_add(struct mf_counter *sum, const struct mf_counter *one, unsigned int n);

#endif
