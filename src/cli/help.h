/* Help, printed from the verb list and the option tables. */
#ifndef TN_CLI_HELP_H
#define TN_CLI_HELP_H

#include "cli/verb.h"

/* All verbs, or (family not NULL) those that begin with that word. */
void tn_help_verbs(FILE *file, const char *family);
void tn_help_verb(FILE *file, const struct tn_verb *verb);

#endif
