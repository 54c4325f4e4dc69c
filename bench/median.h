/* Of many measurements: the middle one, which a noisy moment does not move, and the quiet one, a tenth of the
 * way up, which a noisy neighbour does not move either: on a virtual machine the core's other half may be
 * busy with somebody else's work most of the time, and that only ever adds. */
#ifndef TENURE_BENCH_MEDIAN_H
#define TENURE_BENCH_MEDIAN_H

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Sorts `values`. */
static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[n / 2];
}

/* Sorts `values`. */
static inline double quiet(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[n / 10];
}

#endif
