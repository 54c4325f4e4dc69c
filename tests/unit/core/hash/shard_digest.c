/* Prints one checksum over the shards of 1000 fixed keys, for every algorithm and several counts.
 *
 * Equal output of two programs, whatever their compiler, machine, locale or year, means that they agree on
 * every one of these shards. tests/golden/shards.txt has the value. With the argument `keys` it prints the
 * keys themselves, one a line, and with the name of an algorithm and a count, what `tenure hash` prints for
 * them. */
#include "core/hash/hash.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 1000, KEY_MAX = 400 };

/* Order numbers, texts that end beyond ASCII, full and empty hash tags, and runs of every length to 250, so
 * that each algorithm's blocks and tails occur. */
static size_t make_key(unsigned i, char into[KEY_MAX])
{
    static const char *const words[] = {"账单", "é", "💰", "user-😀-1", "吉 星 高 照", "Straße", "ışık", "a"};
    switch (i % 4) {
    case 0: return (size_t)snprintf(into, KEY_MAX, "A%u", 10086 + i);
    case 1: return (size_t)snprintf(into, KEY_MAX, "%u/%s", i * 2654435761u, words[i / 4 % 8]);
    case 2:
        return (size_t)snprintf(into, KEY_MAX, i % 8 == 2 ? "{tenant-%u}.order.%u" : "{}{%u}.%u", i % 37, i);
    default: break;
    }
    const size_t size = 1 + i / 4;
    for (size_t j = 0; j < size; j++)
        into[j] = (char)('!' + (i * 31 + j * j * 7 + j) % 94);
    into[size] = '\0';
    return size;
}

/* FNV-1a of four bytes, lowest first; written out here so as not to lean on the code under test. */
static uint64_t add(uint64_t digest, uint32_t word)
{
    for (int shift = 0; shift < 32; shift += 8)
        digest = (digest ^ (word >> shift & 0xff)) * 1099511628211u;
    return digest;
}

static int print_digest(void)
{
    static const uint32_t counts[] = {1, 2, 3, 10, 256, 1000, 4096};
    uint64_t digest = 14695981039346656037u;
    char key[KEY_MAX];
    for (int algo = 0; algo < TN_HASH_COUNT; algo++)
        for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
            struct tn_hasher hasher;
            if (tn_hasher_init(&hasher, (enum tn_hash_algo)algo, 0, counts[n], NULL) != TENURE_OK)
                return 1;
            for (unsigned i = 0; i < KEYS; i++) {
                const size_t size = make_key(i, key);
                digest = add(digest, tn_hash_shard(&hasher, key, size));
            }
        }
    printf("%016" PRIx64 "\n", digest);
    return 0;
}

static int print_keys(void)
{
    char key[KEY_MAX];
    for (unsigned i = 0; i < KEYS; i++) {
        make_key(i, key);
        puts(key);
    }
    return 0;
}

static int print_shards(const char *name, const char *count)
{
    struct tn_hasher hasher;
    enum tn_hash_algo algo;
    char key[KEY_MAX];
    if (!tn_hash_parse(name, &algo) ||
        tn_hasher_init(&hasher, algo, 0, (uint32_t)strtoul(count, NULL, 10), NULL) != TENURE_OK)
        return 2;
    for (unsigned i = 0; i < KEYS; i++) {
        const size_t size = make_key(i, key);
        const uint64_t hash = tn_hash(&hasher, key, size);
        if (tn_hash_signed(algo))
            printf("%s\t%" PRId64, key, (int64_t)hash);
        else
            printf("%s\t%" PRIu64, key, hash);
        printf("\t%" PRIu32 "\n", tn_hash_shard(&hasher, key, size));
    }
    return 0;
}

int main(int argc, char **argv)
{
    /* A C program is in the C locale, whatever LC_ALL says, until it asks for another. */
    setlocale(LC_ALL, "");
    if (argc == 1)
        return print_digest();
    if (argc == 2 && strcmp(argv[1], "keys") == 0)
        return print_keys();
    if (argc == 3)
        return print_shards(argv[1], argv[2]);
    fprintf(stderr, "usage: shard_digest [keys | ALGORITHM SHARDS]\n");
    return 2;
}
