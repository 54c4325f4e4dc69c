/* Base64 (RFC 4648, section 4), for bytes that JSON cannot hold. Pure. */
#ifndef TN_CLI_BASE64_H
#define TN_CLI_BASE64_H

#include "base/text.h"

void tn_base64_add(struct tn_text *into, const void *bytes, size_t size);

#endif
