/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "certify/host/protocol.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/plan/names.h"

#define MOST_LINE_BYTES ((size_t)1 << 20)

static int send_line(attest_session *session, json_t *message) {
    char *text = json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(message);
    if (text == NULL) {
        return 0;
    }
    int sent = attest_process_send(&session->process, text, strlen(text)) &&
               attest_process_send(&session->process, "\n", 1);
    free(text);
    return sent;
}

/* One line as JSON; NULL with the outcome filled. The line's length and depth are bounded. */
static json_t *receive_line(attest_session *session, double seconds, const attest_stage *stage,
                            attest_outcome *outcome) {
    const double end = attest_clock() + seconds;
    session->waited_seconds = seconds;
    if (session->line == NULL) {
        session->line = malloc(MOST_LINE_BYTES);
    }
    const char *why = "not enough memory";
    while (session->line != NULL) {
        char *stop = memchr(session->line, '\n', session->line_used);
        if (stop != NULL) {
            size_t length = (size_t)(stop - session->line);
            json_error_t error;
            json_t *message = json_loadb(session->line, length, JSON_REJECT_DUPLICATES, &error);
            session->line_used -= length + 1;
            memmove(session->line, stop + 1, session->line_used);
            if (json_is_object(message)) {
                return message;
            }
            json_decref(message);
            why = "it answered with a line that is not a JSON object";
            break;
        }
        if (session->line_used == MOST_LINE_BYTES) {
            why = "it answered with a line of more than a megabyte";
            break;
        }
        size_t got = 0;
        double left = end - attest_clock();
        attest_wait wait =
            attest_process_receive(&session->process, session->line + session->line_used,
                                   MOST_LINE_BYTES - session->line_used, &got, left > 0 ? left : 0,
                                   session->options->stop);
        if (wait != ATTEST_WAIT_GOT) {
            attest_session_reap(session, wait, stage, outcome);
            return NULL;
        }
        session->line_used += got;
    }
    attest_session_reap(session, ATTEST_WAIT_GOT, stage, outcome);
    snprintf(outcome->text, sizeof outcome->text, "%s", why);
    return NULL;
}

static int broken(attest_session *session, attest_outcome *outcome, const char *why) {
    attest_session_reap(session, ATTEST_WAIT_GOT, NULL, outcome);
    snprintf(outcome->text, sizeof outcome->text, "%s", why);
    return 0;
}

/* With --validate a message may have no key that the schema does not know. */
static int only_keys(const attest_session *session, json_t *object, const char *keys) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        const char *at = key[0] ? strstr(keys, key) : NULL; /* "" is everywhere */
        size_t length = strlen(key);
        while (at != NULL &&
               !((at == keys || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))) {
            at = strstr(at + 1, key);
        }
        if (session->options->validate && at == NULL) {
            return 0;
        }
    }
    return 1;
}

static int copy_text(const json_t *object, const char *key, char *to, size_t size) {
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    if (value != NULL && text == NULL) {
        return 0;
    }
    if (text != NULL) {
        snprintf(to, size, "%s", text);
        attest_printable(to, size);
    }
    return 1;
}

/* A list of names as bits, by a table of names. */
static int name_bits(const json_t *list, const char *const *names, uint64_t *bits,
                     const char **unknown) {
    size_t index;
    const json_t *item;
    *bits = 0;
    if (list != NULL && !json_is_array(list)) {
        *unknown = "(not a list)";
        return 0;
    }
    json_array_foreach(list, index, item) {
        const char *text = json_string_value(item);
        int bit = 0;
        while (text != NULL && names[bit] != NULL && strcmp(names[bit], text) != 0) {
            bit++;
        }
        if (text == NULL || names[bit] == NULL) {
            *unknown = text ? text : "(not a text)";
            return 0;
        }
        *bits |= UINT64_C(1) << bit;
    }
    return 1;
}

static void names_of(const char *const *table, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; table[i] != NULL && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", table[i]);
    }
}

/* 1, or 0 with the field that is wrong in `why`. */
static int read_kernel(const json_t *k, attest_kernel_info *info, char why[ATTEST_MESSAGE_BYTES]) {
    uint64_t isolation = 0;
    *info = (attest_kernel_info){.profile = "attest"};
    const struct {
        const char *key;
        char *to;
        size_t size;
    } texts[] = {{"name", info->name, sizeof info->name},
                 {"vendor", info->vendor, sizeof info->vendor},
                 {"version", info->version, sizeof info->version},
                 {"profile", info->profile, sizeof info->profile},
                 {"model", info->model, sizeof info->model}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!copy_text(k, texts[i].key, texts[i].to, texts[i].size)) {
            snprintf(why, ATTEST_MESSAGE_BYTES, "kernel: %s must be a text", texts[i].key);
            return 0;
        }
    }
    const struct {
        const char *key;
        const char *const *table;
        uint64_t *bits;
    } lists[] = {{"features", attest_feature_table, &info->features},
                 {"shapes", attest_shape_table, &info->shapes},
                 {"types", attest_type_table, &info->dtypes},
                 {"determinism", attest_rung_table, &info->determinism},
                 {"isolation", attest_isolation_table, &isolation}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        json_t *value = json_incref(json_object_get(k, lists[i].key));
        char shown[48] = "", names[160];
        const char *unknown = "";
        if (lists[i].bits == &isolation) { /* one name, not a list */
            value = json_pack("[o]", value != NULL ? value : json_null());
        }
        const int fine = name_bits(value, lists[i].table, lists[i].bits, &unknown);
        snprintf(shown, sizeof shown, "%s", unknown);
        json_decref(value);
        if (!fine) {
            attest_printable(shown, sizeof shown);
            names_of(lists[i].table, names, sizeof names);
            snprintf(why, ATTEST_MESSAGE_BYTES, "kernel: %s has the unknown name \"%s\"; known: %s",
                     lists[i].key, shown, names);
            return 0;
        }
    }
    while (isolation > 1) {
        info->isolation++;
        isolation >>= 1;
    }
    info->max_head_size = (int64_t)json_integer_value(json_object_get(k, "max_head_size"));
    info->max_queries = (int64_t)json_integer_value(json_object_get(k, "max_queries"));
    info->max_keys = (int64_t)json_integer_value(json_object_get(k, "max_keys"));
    info->max_abs_score = json_number_value(json_object_get(k, "max_abs_score"));
    info->exp_ulps = json_number_value(json_object_get(k, "exp_ulps"));
    info->finite_only = json_is_true(json_object_get(k, "finite_only")) ? 1u : 0u;
    return 1;
}

/* The same scrutiny as for a descriptor that came over the wire. */
static int accept_kernel(attest_session *session, const json_t *answer,
                         char why[ATTEST_MESSAGE_BYTES]) {
    const char *reason = "";
    const json_t *kernel = json_object_get(answer, "kernel");
    attest_wire message = {.magic = ATTEST_WIRE_MAGIC, .kind = ATTEST_WIRE_LOADED}, checked;
    if (!read_kernel(kernel, &message.u.info, why)) {
        return 0;
    }
    if (!attest_wire_accept(&checked, &message, sizeof message, &reason)) {
        snprintf(why, ATTEST_MESSAGE_BYTES, "%s", reason);
        return 0;
    }
    session->info = checked.u.info;
    session->conditional = json_is_true(json_object_get(kernel, "conditional"));
    session->loaded = 1;
    return 1;
}

static int launch(attest_session *session, attest_outcome *outcome) {
    const attest_target *t = session->target;
    const char *const python[] = {t->interpreter, "-B",        t->worker_script,
                                  t->path,        t->function, NULL};
    const char *const program[] = {t->path, NULL};
    return attest_session_launch(session, "exec",
                                 t->kind == ATTEST_TARGET_PYTHON ? python : program, outcome);
}

int attest_protocol_start(attest_session *session, attest_outcome *outcome) {
    if (!launch(session, outcome)) {
        return 0;
    }
    const double seconds = session->options->load_seconds;
    json_t *start = json_pack("{s:s,s:i,s:s,s:s,s:b}", "cmd", "start", "protocol", 1, "inputs",
                              "/proc/self/fd/4", "outputs", "/proc/self/fd/5", "validate",
                              session->options->validate);
    if (!send_line(session, start)) {
        attest_session_reap(session, ATTEST_WAIT_ENDED, NULL, outcome);
        return 0;
    }
    json_t *answer = receive_line(session, seconds, NULL, outcome);
    if (answer == NULL) {
        return 0;
    }
    int fine = json_integer_value(json_object_get(answer, "protocol")) == 1 &&
               only_keys(session, answer, "protocol message");
    json_decref(answer);
    if (!fine) {
        return broken(session, outcome, "it does not speak protocol 1");
    }
    if (!send_line(session, json_pack("{s:s}", "cmd", "declare"))) {
        attest_session_reap(session, ATTEST_WAIT_ENDED, NULL, outcome);
        return 0;
    }
    answer = receive_line(session, seconds, NULL, outcome);
    if (answer == NULL) {
        return 0;
    }
    char why[ATTEST_MESSAGE_BYTES] = "", refusal[ATTEST_REASON_BYTES] = "";
    copy_text(answer, "message", refusal, sizeof refusal);
    fine = only_keys(session, answer, "kernel message");
    fine = fine && json_object_get(answer, "kernel") && accept_kernel(session, answer, why);
    json_decref(answer);
    if (!fine) {
        return broken(session, outcome, why[0] ? why : refusal[0] ? refusal : "no kernel declared");
    }
    return 1;
}

static json_t *tensor_json(const attest_tensor *t, const attest_place *place, int slot) {
    const int input = slot < ATTEST_INPUT_SLOTS;
    const uint64_t file_slot = (uint64_t)(input ? slot : slot - ATTEST_INPUT_SLOTS);
    json_t *shape = json_array(), *stride = json_array();
    for (uint32_t axis = 0; axis < t->rank && axis < ATTEST_MAX_RANK; axis++) {
        json_array_append_new(shape, json_integer((json_int_t)t->shape[axis]));
        json_array_append_new(stride, json_integer((json_int_t)t->stride[axis]));
    }
    return json_pack("{s:s,s:o,s:o,s:s,s:I,s:I}", "dtype", attest_dtype_name(t->dtype), "shape",
                     shape, "stride", stride, "file", input ? "inputs" : "outputs", "offset",
                     (json_int_t)((file_slot << ATTEST_SLOT_SHIFT) + place->data_offset), "bytes",
                     (json_int_t)place->data_bytes);
}

static json_t *problem_json(const attest_stage *stage) {
    attest_problem p = stage->problem;
    json_t *features = json_array(), *tensors = json_object();
    for (int bit = 0; bit < 64; bit++) {
        if (p.features >> bit & 1) {
            char unknown[16];
            snprintf(unknown, sizeof unknown, "bit-%d", bit);
            json_array_append_new(features,
                                  json_string(bit < 12 ? attest_feature_table[bit] : unknown));
        }
    }
    for (int slot = 0; slot < ATTEST_SLOT_WORKSPACE; slot++) {
        if (stage->place[slot].present) {
            json_object_set_new(
                tensors, attest_slot_name(slot),
                tensor_json(attest_slot_tensor(&p, slot), &stage->place[slot], slot));
        }
    }
    json_t *problem = json_pack("{s:o,s:o,s:i}", "features", features, "tensors", tensors,
                                "threads", (int)p.threads);
    if (p.features & ATTEST_SCALE) { /* no JSON number is infinite */
        json_t *scale = json_real(p.scale);
        json_object_set_new(problem, "scale", scale ? scale : json_string("inf"));
    }
    if (p.features & ATTEST_SOFTCAP) {
        json_t *softcap = json_real(p.softcap);
        json_object_set_new(problem, "softcap", softcap ? softcap : json_string("inf"));
    }
    if (p.features & ATTEST_WINDOW) {
        json_object_set_new(
            problem, "window",
            json_pack("[I,I]", (json_int_t)p.window_left, (json_int_t)p.window_right));
    }
    if (p.features & ATTEST_WINDOW_SIZE) {
        json_object_set_new(problem, "window_size", json_integer((json_int_t)p.window_size));
    }
    int reserved = p.reserved32 != 0 || p.struct_bytes != sizeof p;
    for (size_t i = 0; i < sizeof p.reserved / sizeof *p.reserved; i++) {
        reserved |= p.reserved[i] != 0;
    }
    if (reserved) {
        json_object_set_new(problem, "reserved", json_true());
    }
    return problem;
}

static int status_of(const char *name) {
    static const char *const names[] = {"ok", "unsupported", "invalid", "no-memory", "internal"};
    for (int i = 0; name != NULL && i < 5; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

void attest_protocol_call(attest_session *session, enum attest_call_kind kind,
                          const attest_stage *stage, attest_outcome *outcome) {
    if (kind == ATTEST_CALL_TOGETHER) {
        outcome->status = ATTEST_UNSUPPORTED;
        snprintf(outcome->text, sizeof outcome->text, "the protocol has no concurrent calls");
        return;
    }
    const json_int_t sequence = (json_int_t)++session->sequence;
    json_t *run = json_pack("{s:s,s:I,s:s,s:o}", "cmd", "run", "seq", sequence, "kind",
                            kind == ATTEST_CALL_SUPPORTS ? "supports" : "forward", "problem",
                            problem_json(stage));
    if (run == NULL || !send_line(session, run)) {
        attest_session_reap(session, ATTEST_WAIT_ENDED, stage, outcome);
        return;
    }
    json_t *answer = receive_line(session, session->options->call_seconds, stage, outcome);
    if (answer == NULL) {
        return;
    }
    int status = status_of(json_string_value(json_object_get(answer, "status")));
    int fine = status >= 0 && json_integer_value(json_object_get(answer, "seq")) == sequence &&
               only_keys(session, answer, "seq status message");
    char message[ATTEST_REASON_BYTES] = "";
    copy_text(answer, "message", message, sizeof message);
    json_decref(answer);
    if (!fine) {
        broken(session, outcome, "the answer does not belong to the question");
        return;
    }
    outcome->status = status;
    snprintf(outcome->text, sizeof outcome->text, "%s", message);
}
