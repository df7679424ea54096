/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>

#include "base/mf_zipf.h"

#define EXACT_TERMS 65536
#define ITEMS_MAX (UINT64_C(1) << 53)

/*
 * Beyond EXACT_TERMS the sum is Euler and Maclaurin's: the integral, half of both ends, a twelfth of the
 * slope at both. What that leaves out is of the order of EXACT_TERMS^-3: below the rounding of double.
 */
static double zeta(uint64_t n, double theta)
{
	uint64_t exact = n < EXACT_TERMS ? n : EXACT_TERMS;
	double sum = 0;

	for (uint64_t i = exact; i >= 1; i--)
		sum += pow((double)i, -theta);
	if (n > exact) {
		sum += (pow((double)n, 1 - theta) - pow((double)exact, 1 - theta)) / (1 - theta);
		sum += (pow((double)n, -theta) - pow((double)exact, -theta)) / 2;
		sum -= theta * (pow((double)n, -theta - 1) - pow((double)exact, -theta - 1)) / 12;
	}
	return sum;
}

int mf_zipf_init(struct mf_zipf *z, uint64_t n, double theta)
{
	if (n == 0 || n > ITEMS_MAX || !(theta >= 0 && theta < 1))
		return -EINVAL;
	z->n = n;
	z->zeta = zeta(n, theta);
	z->second = zeta(2, theta);
	z->alpha = 1 / (1 - theta);
	z->eta = n <= 2 ? 0 : (1 - pow(2.0 / (double)n, 1 - theta)) / (1 - z->second / z->zeta);
	return 0;
}

uint64_t mf_zipf_item(const struct mf_zipf *z, double u)
{
	double uz = u * z->zeta;
	uint64_t item;

	if (uz < 1 || z->n == 1)
		return 0;
	if (uz < z->second || z->n == 2)
		return 1;
	item = (uint64_t)((double)z->n * pow(z->eta * (u - 1) + 1, z->alpha));
	return item < z->n ? item : z->n - 1;
}
