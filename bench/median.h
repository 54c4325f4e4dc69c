/* The middle of many measurements: a noisy moment does not move it. */
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

#endif
