/* SPDX-License-Identifier: BSD-3-Clause */
/* One table has clean pages from its beginning on, and dirty ones from its end backwards. */
#include <errno.h>
#include <stdlib.h>

#include "base/mf_table.h"
#include "memory/mf_page_pool.h"

struct mf_page_pool {
	struct mf_page_pool_config config;
	struct mf_page_pool_stats stats;
	uint32_t *page;
	uint64_t *out; /**< a bit for each page: the fast path has it */
	/* The page that is being worked on, if any. */
	uint64_t done; /**< octets */
	uint32_t working;
	bool touching; /**< it is fresh; else it is zeroed */
};

struct mf_page_pool *mf_page_pool_new(const struct mf_page_pool_config *c)
{
	struct mf_page_pool *p;

	if (c->pages == 0 || c->pages > (UINT64_C(1) << 32) - c->first || c->octets == 0 || c->zero == NULL) {
		errno = EINVAL;
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->config = *c;
	p->stats.fresh = c->pages;
	p->page = mf_table_new(c->pages, sizeof(p->page[0]));
	p->out = mf_table_new((c->pages + 63) / 64, sizeof(p->out[0]));
	if (p->page != NULL && p->out != NULL)
		return p;
	mf_page_pool_free(p);
	return NULL;
}

void mf_page_pool_free(struct mf_page_pool *p)
{
	if (p == NULL)
		return;
	mf_table_free(p->page);
	mf_table_free(p->out);
	free(p);
}

/** The pages of a pool that were never used are the last ones. */
static uint32_t next_fresh(struct mf_page_pool *p)
{
	return p->config.first + (uint32_t)(p->config.pages - p->stats.fresh--);
}

bool mf_page_pool_take(struct mf_page_pool *p, uint32_t *page)
{
	if (p->stats.clean > 0)
		*page = p->page[--p->stats.clean];
	else if (p->stats.fresh > 0 && p->config.touch == NULL)
		*page = next_fresh(p);
	else
		return false;
	p->out[(*page - p->config.first) / 64] |= UINT64_C(1) << (*page - p->config.first) % 64;
	p->stats.out++;
	return true;
}

int mf_page_pool_give(struct mf_page_pool *p, uint32_t page)
{
	uint64_t i = (uint64_t)page - p->config.first, bit = UINT64_C(1) << i % 64;

	if (i >= p->config.pages || (p->out[i / 64] & bit) == 0)
		return -EINVAL;
	p->out[i / 64] &= ~bit;
	p->stats.out--;
	p->stats.dirty++;
	p->page[p->config.pages - p->stats.dirty] = page;
	return 0;
}

/** @return false: nothing is to be done */
static bool begin(struct mf_page_pool *p)
{
	if (p->stats.dirty > 0) {
		p->working = p->page[p->config.pages - p->stats.dirty--];
		p->touching = false;
	} else if (p->config.touch != NULL && p->stats.clean == 0 && p->stats.fresh > 0) {
		p->working = next_fresh(p);
		p->touching = true;
	} else {
		return false;
	}
	p->stats.working = 1;
	p->done = 0;
	return true;
}

/** Continues the page that is being worked on. @return octets */
static uint64_t slice(struct mf_page_pool *p, uint64_t octets)
{
	uint64_t left = p->config.octets - p->done, len = octets < left ? octets : left;

	(p->touching ? p->config.touch : p->config.zero)(p->config.ctx, p->working, p->done, len);
	*(p->touching ? &p->stats.touched : &p->stats.zeroed) += len;
	p->done += len;
	if (len == left) {
		p->stats.working = 0;
		p->page[p->stats.clean++] = p->working;
	}
	return len;
}

uint64_t mf_page_pool_work(struct mf_page_pool *p, uint64_t octets)
{
	uint64_t done = 0;

	while (done < octets && (p->stats.working > 0 || begin(p)))
		done += slice(p, octets - done);
	return done;
}

uint64_t mf_page_pool_left(const struct mf_page_pool *p)
{
	return p->stats.fresh + p->stats.dirty + p->stats.working + p->stats.clean;
}

const struct mf_page_pool_stats *mf_page_pool_stats(const struct mf_page_pool *p)
{
	return &p->stats;
}
