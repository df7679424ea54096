/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/mf_table.h"
#include "workload/choose.h"

bool choose_has_data(const struct mf_client_config *config)
{
	return config->mix[MF_CLIENT_READ] + config->mix[MF_CLIENT_WRITE] + config->mix[MF_CLIENT_WRITE_ACK] +
		       config->mix[MF_CLIENT_CALL] >
	       0;
}

bool choose_has_rmw(const struct mf_client_config *config)
{
	for (int k = MF_CLIENT_CAS; k <= MF_CLIENT_AND; k++)
		if (config->mix[k] > 0)
			return true;
	return false;
}

bool choose_reads_only(const struct mf_client_config *config)
{
	for (int k = 0; k < MF_CLIENT_KINDS; k++)
		if (!mf_client_reads((enum mf_client_kind)k) && config->mix[k] > 0)
			return false;
	return true;
}

uint64_t choose_size_max(const struct mf_client_config *config)
{
	switch (config->size_dist) {
	case MF_CLIENT_SIZE_FIXED:
		return config->size_min;
	case MF_CLIENT_SIZE_UNIFORM:
		return config->size_max;
	default:
		return config->cdf[config->cdf_points - 1].size;
	}
}

static int mix_init(struct chooser *ch, const double *mix)
{
	double sum = 0, cum = 0;

	for (int k = 0; k < MF_CLIENT_KINDS; k++) {
		if (!(mix[k] >= 0) || isinf(mix[k]))
			return -EINVAL;
		sum += mix[k];
	}
	if (!(sum > 0) || isinf(sum))
		return -EINVAL;
	for (unsigned int k = 0; k < MF_CLIENT_KINDS; k++) {
		double limit;

		cum += mix[k];
		limit = cum / sum * 0x1p64;
		ch->kind_limit[k] = limit < 0x1p64 ? (uint64_t)limit : UINT64_MAX;
		if (mix[k] > 0)
			ch->kind_last = k;
	}
	return 0;
}

static int cdf_check(const struct mf_cdf_point *cdf, unsigned int n, uint64_t unit)
{
	if (cdf == NULL || n == 0 || cdf[n - 1].size == 0 || !(cdf[0].cum >= 0))
		return -EINVAL;
	for (unsigned int i = 1; i < n; i++)
		if (!(cdf[i].cum >= cdf[i - 1].cum) || cdf[i].size < cdf[i - 1].size)
			return -EINVAL;
	for (unsigned int i = 0; i < n; i++)
		if (cdf[i].size % unit != 0 || (cdf[i].size == 0 && cdf[i].cum > 0))
			return -EINVAL;
	return fabs(cdf[n - 1].cum - 1) < 1e-9 ? 0 : -EINVAL;
}

static int cdf_init(struct chooser *ch, const struct mf_cdf_point *cdf, unsigned int n, uint64_t unit)
{
	if (cdf_check(cdf, n, unit) < 0)
		return -EINVAL;
	ch->point = calloc(n, sizeof(*ch->point));
	if (ch->point == NULL)
		return -ENOMEM;
	ch->points = n;
	ch->size_unit = unit;
	for (unsigned int i = 0; i < n; i++) {
		struct choose_point *p = &ch->point[i];

		*p = (struct choose_point){.cum = cdf[i].cum, .size = (double)(cdf[i].size / unit)};
		if (i > 0 && p->cum > p[-1].cum)
			p->slope = (p->size - p[-1].size) / (p->cum - p[-1].cum);
	}
	return 0;
}

static int sizes_init(struct chooser *ch, const struct mf_client_config *config)
{
	bool uniform = config->size_dist == MF_CLIENT_SIZE_UNIFORM;

	if (config->size_dist == MF_CLIENT_SIZE_CDF)
		return cdf_init(ch, config->cdf, config->cdf_points,
				config->size_unit != 0 ? config->size_unit : 1);
	if (config->size_min == 0 || (uniform && config->size_max < config->size_min))
		return -EINVAL;
	ch->size_min = config->size_min;
	ch->size_range = uniform ? config->size_max - config->size_min + 1 : 1;
	return 0;
}

static int targets_init(struct chooser *ch, const struct mf_client_config *config, uint32_t targets,
			uint32_t first)
{
	ch->targets = targets;
	ch->target_next = first;
	if (targets == 0 || first >= targets)
		return -EINVAL;
	return ch->shape.pattern == MF_CLIENT_TO_ZIPF ? mf_zipf_init(&ch->target_zipf, targets, config->theta)
						      : 0;
}

static int slots_init(struct chooser *ch, const struct mf_client_config *config)
{
	uint64_t max = choose_size_max(config);

	if (max > ch->span)
		return -EINVAL;
	if (ch->shape.size == MF_CLIENT_SIZE_FIXED || ch->shape.address == MF_CLIENT_AT_ZIPF) {
		ch->stride = choose_round_up(max);
		ch->slots = ch->span < ch->stride ? 1 : ch->span / ch->stride;
	}
	return ch->shape.address == MF_CLIENT_AT_ZIPF ? mf_zipf_init(&ch->slot_zipf, ch->slots, config->theta)
						      : 0;
}

static int addresses_init(struct chooser *ch, const struct mf_client_config *config)
{
	int err = 0;

	ch->span = config->span;
	ch->units = ch->span / CHOOSE_ALIGN;
	ch->words = ch->span / 8;
	ch->salt = mf_rng_next(&ch->rng);
	if (choose_has_data(config))
		err = slots_init(ch, config);
	if (!err && choose_has_rmw(config)) {
		if (ch->words == 0)
			return -EINVAL;
		if (ch->shape.address == MF_CLIENT_AT_ZIPF)
			err = mf_zipf_init(&ch->word_zipf, ch->words, config->theta);
	}
	if (!err && ch->shape.address == MF_CLIENT_AT_SEQUENTIAL) {
		ch->cursor = mf_table_new(ch->targets, sizeof(*ch->cursor));
		err = ch->cursor != NULL ? 0 : -ENOMEM;
	}
	return err;
}

int choose_init(struct chooser *ch, const struct mf_client_config *config, uint32_t targets, uint32_t first)
{
	int err;

	*ch = (struct chooser){.shape = {config->size_dist, config->pattern, config->address}};
	ch->uniform = config->size_dist == MF_CLIENT_SIZE_FIXED && config->pattern == MF_CLIENT_TO_UNIFORM &&
		      config->address == MF_CLIENT_AT_UNIFORM;
	mf_rng_init(&ch->rng, config->seed, "client.choice", config->node);
	err = mix_init(ch, config->mix);
	if (!err && choose_has_data(config))
		err = sizes_init(ch, config);
	if (!err)
		err = targets_init(ch, config, targets, first);
	if (!err)
		err = addresses_init(ch, config);
	if (err)
		choose_fini(ch);
	return err;
}

void choose_fini(struct chooser *ch)
{
	free(ch->point);
	mf_table_free(ch->cursor);
	ch->point = NULL;
	ch->cursor = NULL;
}

/*
 * The inverse of the distribution; rounded up, so that P(size <= s) holds for every whole s, in units. At
 * least one unit: a first point of 0 has a probability of 0.
 */
uint64_t choose_cdf_size(const struct chooser *ch, double u)
{
	unsigned int low = 0, high = ch->points - 1;
	const struct choose_point *p;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (u <= ch->point[middle].cum)
			high = middle;
		else
			low = middle + 1;
	}
	p = &ch->point[low];
	return (uint64_t)fmax(1, fmin(ceil(p->size - (p->cum - u) * p->slope), p->size)) * ch->size_unit;
}

struct choice choose_any(struct chooser *ch)
{
	return choose_by(ch, ch->shape);
}

struct choice choose_given(struct chooser *ch, enum mf_client_kind kind, uint32_t target, uint64_t len)
{
	struct choice x = {.kind = kind, .target = target, .len = len};

	if (choose_is_rmw(kind))
		x.offset = choose_word(ch, ch->shape, &ch->rng, target);
	else
		x.offset = choose_place(ch, ch->shape, &ch->rng, target, len);
	return x;
}
