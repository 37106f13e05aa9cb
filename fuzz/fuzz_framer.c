/* SPDX-License-Identifier: Apache-2.0 */
/* The framer of streams and lists: the first byte seeds the cuts; any cut gives the pieces of the whole. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <grove/sys/util.h>

#include "k8s/framer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Pieces, each followed by a 0; what comes after a broken byte does not count. */
static void frame(grove_env *env, bool is_list, const char *text, size_t len, uint64_t seed,
                  grove_buf *out, bool *broken) {
    gv_k8s_framer f;
    gv_k8s_framer_init(&f, env);
    gv_k8s_framer_reset(&f, is_list);
    for (size_t at = 0; at < len && !f.broken;) {
        size_t n = seed == 0 ? len : (size_t)(grove_random_next(&seed) % 9 + 1);
        n = n < len - at ? n : len - at;
        if (gv_k8s_framer_add(&f, text + at, n) < 0) {
            abort();
        }
        at += n;
        const char *doc = NULL;
        size_t doc_len = 0;
        gv_k8s_piece p;
        while ((p = gv_k8s_framer_peek(&f, &doc, &doc_len)) != GV_K8S_PIECE_NONE) {
            bool object = doc_len >= 2 && doc[0] == '{';
            if (object == (p == GV_K8S_PIECE_END) || grove_buf_append(out, doc, doc_len) < 0 ||
                grove_buf_append(out, "", 1) < 0) {
                abort();
            }
            gv_k8s_framer_take(&f);
        }
    }
    *broken = f.broken;
    gv_k8s_framer_fini(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grove_env *env = NULL;
    if (size < 1 || grove_env_new(NULL, &env) < 0) {
        return 0;
    }
    const char *text = (const char *)data + 1;
    grove_buf whole, cut;
    bool whole_broken = false, cut_broken = false;
    grove_buf_init(&whole, env);
    grove_buf_init(&cut, env);
    bool is_list = data[0] % 2 == 1;
    frame(env, is_list, text, size - 1, 0, &whole, &whole_broken);
    frame(env, is_list, text, size - 1, (uint64_t)data[0] + 1, &cut, &cut_broken);
    if (whole_broken != cut_broken || whole.len != cut.len ||
        (whole.len > 0 && memcmp(whole.data, cut.data, (size_t)whole.len) != 0)) {
        abort();
    }
    grove_buf_fini(&whole);
    grove_buf_fini(&cut);
    grove_env_unref(env);
    return 0;
}
