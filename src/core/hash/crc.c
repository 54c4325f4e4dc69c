/* CRC-16/XMODEM (polynomial 0x1021, as in the Redis Cluster specification), CRC-32 (ISO-HDLC, reflected
 * 0xedb88320) and CRC-32C (Castagnoli, reflected 0x82f63b78). Half a byte at a time: tables of sixteen, made
 * by the compiler. */
#include "core/hash/family.h"

#include <stdbool.h>
#include <string.h>

#define STEP(poly, c) (((c) >> 1) ^ ((poly) & (0u - ((c)&1u))))
#define STEP4(poly, c) STEP(poly, STEP(poly, STEP(poly, STEP(poly, c))))
#define NIBBLES(poly)                                                                                        \
    {                                                                                                        \
        STEP4(poly, 0u), STEP4(poly, 1u), STEP4(poly, 2u), STEP4(poly, 3u), STEP4(poly, 4u),                 \
            STEP4(poly, 5u), STEP4(poly, 6u), STEP4(poly, 7u), STEP4(poly, 8u), STEP4(poly, 9u),             \
            STEP4(poly, 10u), STEP4(poly, 11u), STEP4(poly, 12u), STEP4(poly, 13u), STEP4(poly, 14u),        \
            STEP4(poly, 15u)                                                                                 \
    }

static const uint32_t ieee[16] = NIBBLES(0xedb88320u);
static const uint32_t castagnoli[16] = NIBBLES(0x82f63b78u);

static uint32_t reflected(const uint32_t table[16], const uint8_t *key, size_t size)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        crc ^= key[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

uint32_t tn_crc32(const uint8_t *key, size_t size)
{
    return reflected(ieee, key, size);
}

uint32_t tn_crc32c(const uint8_t *key, size_t size)
{
    return reflected(castagnoli, key, size);
}

static uint32_t xmodem(const uint8_t *key, size_t size)
{
    uint32_t crc = 0;
    for (size_t i = 0; i < size; i++) {
        /* Four bits of the polynomial's multiples never overlap, so its table of sixteen is a multiplication.
         */
        crc = (crc << 4 ^ (crc >> 12 ^ key[i] >> 4) * 0x1021u) & 0xffffu;
        crc = (crc << 4 ^ (crc >> 12 ^ (key[i] & 15u)) * 0x1021u) & 0xffffu;
    }
    return crc;
}

uint32_t tn_crc16_slot(const uint8_t *key, size_t size)
{
    /* Redis Cluster specification: only what stands between the first { and the first } after it, if that is
     * not empty. */
    const uint8_t *open = size ? memchr(key, '{', size) : NULL;
    if (open) {
        const uint8_t *inside = open + 1;
        const uint8_t *close = memchr(inside, '}', (size_t)(key + size - inside));
        if (close && close > inside)
            return xmodem(inside, (size_t)(close - inside)) & 16383u;
    }
    return xmodem(key, size) & 16383u;
}
