#include "cli/batch.h"

#include "cli/json.h"
#include "cli/lines.h"

#include <string.h>
#include <unistd.h>

static enum tenure_status check_fields(struct tn_cli *cli, json_t *request, const char *const *fields,
                                       struct tenure_error *error)
{
    const char *name;
    json_t *value;
    json_object_foreach(request, name, value)
    {
        const char *const *field = fields;
        while (*field && strcmp(*field, name) != 0)
            field++;
        if (!*field)
            return tn_error_set(error, TENURE_BAD_INPUT, "unknown field \"%s\"", tn_cli_shown(cli, name));
    }
    return TENURE_OK;
}

static enum tenure_status parse(const struct tn_line *line, json_t **ret, struct tenure_error *error)
{
    if (line->too_long)
        return tn_error_set(error, TENURE_TOO_BIG, "a request may have up to %d bytes", TN_LINES_MAX);
    json_error_t fault;
    *ret = json_loadb(line->bytes, line->size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &fault);
    if (!*ret)
        return tn_error_set(error, TENURE_BAD_INPUT, "not JSON: column %d: %s", fault.column, fault.text);
    if (!json_is_object(*ret))
        return tn_error_set(error, TENURE_BAD_INPUT, "not a JSON object");
    return TENURE_OK;
}

static json_t *error_answer(const struct tenure_error *error)
{
    json_t *const fault = json_object();
    json_object_set_new(fault, "code", json_string(tenure_status_name(error->status)));
    json_object_set_new(fault, "message", tn_json_text(error->text));
    json_t *const answer = json_object();
    json_object_set_new(answer, "error", fault);
    return answer;
}

static void answer_line(struct tn_cli *cli, const struct tn_line *line, const char *const *fields,
                        tn_batch_answer *answer)
{
    struct tenure_error error = {.status = TENURE_BUG};
    json_t *request = NULL, *reply = json_object();
    enum tenure_status status = parse(line, &request, &error);
    if (status == TENURE_OK)
        status = check_fields(cli, request, fields, &error);
    if (status == TENURE_OK)
        status = answer(cli, request, reply, &error);
    if (status != TENURE_OK) {
        json_decref(reply);
        reply = error_answer(&error);
    }
    json_decref(request);
    tn_json_print(reply);
}

enum tenure_status tn_batch_run(struct tn_cli *cli, const char *const *fields, tn_batch_answer *answer)
{
    struct tn_arena kept = cli->arena; /* what the run has so far; each line starts from an empty one */
    tn_arena_init(&cli->arena);
    struct tn_lines lines;
    struct tn_line line;
    enum tenure_status status;
    tn_lines_init(&lines, STDIN_FILENO, '\n');
    while ((status = tn_lines_next(&lines, &line, &cli->error)) == TENURE_OK) {
        answer_line(cli, &line, fields, answer);
        tn_arena_reset(&cli->arena);
    }
    tn_lines_done(&lines);
    tn_arena_done(&cli->arena);
    cli->arena = kept;
    return status == TENURE_CLOSED ? TENURE_OK : status;
}

static int digit(char character)
{
    return character >= '0' && character <= '9'   ? character - '0'
           : character >= 'a' && character <= 'f' ? character - 'a' + 10
           : character >= 'A' && character <= 'F' ? character - 'A' + 10
                                                  : -1;
}

bool tn_batch_hex(struct tn_arena *arena, const char *text, size_t length, const void **ret_bytes,
                  size_t *ret_size)
{
    if (length % 2 != 0)
        return false;
    unsigned char *const bytes = tn_arena_get(arena, length / 2 + 1);
    for (size_t i = 0; i < length; i += 2) {
        const int high = digit(text[i]), low = digit(text[i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i / 2] = (unsigned char)(high << 4 | low);
    }
    *ret_bytes = bytes;
    *ret_size = length / 2;
    return true;
}
