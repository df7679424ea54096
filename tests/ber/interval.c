/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clopper and Pearson's interval: the shares for which k or fewer, and k or more, of n would be seen by a
 * chance of 2.5 % each. They are quantiles of a beta distribution.
 */
#include <math.h>

#include "ber.h"

#define STEPS 300
#define SMALL 1e-300
#define TAIL 0.025

/** The continued fraction of the incomplete beta function, after Lentz. */
static double fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < SMALL ? SMALL : d);
	h = d;
	for (int m = 1; m < STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < SMALL ? SMALL : d);
		h *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < SMALL ? SMALL : d);
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return h;
}

/** P(X <= x) of a beta distribution. */
static double beta_below(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x >= 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * fraction(a, b, x) / a;
	return 1 - front * fraction(b, a, 1 - x) / b;
}

/** The x below which lies p; by halves of its logarithm, since shares are small. */
static double beta_quantile(double a, double b, double p)
{
	double low = log(1e-30), high = 0;

	for (int i = 0; i < 200; i++) {
		double middle = (low + high) / 2;

		if (beta_below(a, b, exp(middle)) < p)
			low = middle;
		else
			high = middle;
	}
	return exp(high);
}

struct ber_interval ber_interval(uint64_t k, uint64_t n)
{
	double a = (double)k, all = (double)n;

	if (n == 0)
		return (struct ber_interval){0, 1};
	if (k == 0)
		return (struct ber_interval){0, -expm1(log(2 * TAIL) / all)};
	return (struct ber_interval){
		beta_quantile(a, all - a + 1, TAIL),
		k == n ? 1 : beta_quantile(a + 1, all - a, 1 - TAIL),
	};
}
