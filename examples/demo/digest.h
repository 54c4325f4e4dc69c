/* The work on one record: the SHA-256 of a block of a file. */
#ifndef DEMO_DIGEST_H
#define DEMO_DIGEST_H

#include "datafile.h"

/* Fills record->digest: 64 hex digits, or "unreadable" when the block is not there as a whole. Blocks for
 * file access. */
void digest_record(struct data_record *record);

#endif
