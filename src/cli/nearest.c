#include "cli/nearest.h"

#include <string.h>

enum { LONGEST = 32 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *const row = rows[i % 3];
        const size_t *const above = rows[(i + 2) % 3], *const above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

void tn_nearest_init(struct tn_nearest *nearest, const char *word)
{
    const size_t length = strlen(word);
    *nearest = (struct tn_nearest){.word = word, .distance = length < 6 ? 2 : length / 3 + 1};
}

void tn_nearest_try(struct tn_nearest *nearest, const char *candidate)
{
    const size_t n = strlen(nearest->word), m = strlen(candidate);
    if (n > LONGEST || m > LONGEST || n == 0)
        return;
    const size_t found = distance(nearest->word, n, candidate, m);
    if (found >= nearest->distance || found >= n)
        return;
    nearest->distance = found;
    nearest->best = candidate;
}
