/* Internal side of tenure/status.h: how an error is filled in. */
#ifndef TN_BASE_STATUS_H
#define TN_BASE_STATUS_H

#include "tenure/status.h"

/* Fills `error` (may be NULL) with printf-style text and returns `status`, so that a caller can write
 * `return tn_error_set(error, TENURE_BAD_INPUT, "...")`. Text beyond the room is cut. */
__attribute__((format(printf, 3, 4))) enum tenure_status
tn_error_set(struct tenure_error *error, enum tenure_status status, const char *format, ...);

#endif
