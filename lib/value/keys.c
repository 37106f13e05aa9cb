/* SPDX-License-Identifier: Apache-2.0 */
/* Equal keys: a bit mask settles small objects, sorting the large ones, so no input costs a square. */
#include "value/keys.h"

#include "base/sort.h"

#define DROPPED_LINE UINT32_MAX /* marks a member that is to go; no text has that many lines */

void gv_keys_fini(gv_keys *k) {
    gv_vec_fini(k->env, &k->sorted);
}

gv_str gv_keys_of(const gv_keys *k, const grove_node *member) {
    const char *p = k->text ? k->text + member->key : gv_node_key_at(member);
    return (gv_str){p, gv_node_key_len(member)};
}

static bool same_key(const gv_keys *k, const grove_node *a, const grove_node *b) {
    return gv_node_key_len(a) == gv_node_key_len(b) &&
           gv_str_eq(gv_keys_of(k, a), gv_keys_of(k, b));
}

/* One bit of 64 that equal keys share. */
static uint64_t key_bit(gv_str key) {
    unsigned h = (unsigned)key.n * 7;
    if (key.n > 0) {
        h += (unsigned char)key.p[0] + 5u * (unsigned char)key.p[key.n - 1] +
             3u * (unsigned char)key.p[key.n / 2];
    }
    return UINT64_C(1) << (h & 63);
}

static const grove_node *check_small(const gv_keys *k, const grove_node *object) {
    const grove_node *end = object + object->a;
    uint64_t seen = 0;
    for (const grove_node *m = object + 1; m < end; m = gv_node_after(m)) {
        const uint64_t bit = key_bit(gv_keys_of(k, m));
        if (seen & bit) {
            for (const grove_node *e = object + 1; e < m; e = gv_node_after(e)) {
                if (same_key(k, e, m)) {
                    return m;
                }
            }
        }
        seen |= bit;
    }
    return NULL;
}

static int compare_members(const void *a, const void *b, void *ctx) {
    const grove_node *ma = a;
    const grove_node *mb = b;
    const int order = gv_str_cmp(gv_keys_of(ctx, ma), gv_keys_of(ctx, mb));
    return order != 0 ? order : (ma > mb) - (ma < mb);
}

/* Sorts the members by key, equal ones in their order. */
static bool sort_members(gv_keys *k, const grove_node *object) {
    k->sorted.n = 0;
    if (!gv_vec_reserve(k->env, &k->sorted, object->b)) {
        return false;
    }
    const grove_node *end = object + object->a;
    for (const grove_node *m = object + 1; m < end; m = gv_node_after(m)) {
        k->sorted.v[k->sorted.n++] = m;
    }
    gv_sort(k->sorted.v, k->sorted.n, compare_members, k);
    return true;
}

/* The earliest member in the document whose key came before; k->sorted is set. */
static const grove_node *check_sorted(const gv_keys *k) {
    const grove_node *found = NULL;
    for (size_t i = 1; i < k->sorted.n; i++) {
        const grove_node *m = k->sorted.v[i];
        if (same_key(k, k->sorted.v[i - 1], m) && (!found || m < found)) {
            found = m;
        }
    }
    return found;
}

/* Moves a member's nodes down to `to`, correcting distances; returns the place behind. */
static grove_node *move_member(const gv_keys *k, grove_node *to, const grove_node *from,
                               uint32_t n) {
    const uint32_t shift = k->text ? 0 : (uint32_t)((size_t)(from - to) * sizeof *to);
    for (uint32_t i = 0; i < n; i++) {
        grove_node node = from[i];
        const uint32_t type = gv_node_raw_type(&node);
        node.key -= node.head & GV_NODE_MEMBER ? shift : 0;
        node.a -= type == GROVE_STRING || type == GROVE_NUMBER ? shift : 0;
        *to++ = node;
    }
    return to;
}

/* Of equal keys the last one stays; k->sorted is set and outdated afterwards. */
static void drop_earlier(gv_keys *k, grove_node *object) {
    uint32_t dropped = 0;
    for (size_t i = 0; i + 1 < k->sorted.n; i++) {
        const grove_node *m = k->sorted.v[i];
        if (same_key(k, m, k->sorted.v[i + 1])) {
            object[m - object].line = DROPPED_LINE;
            dropped++;
        }
    }
    const grove_node *end = object + object->a;
    grove_node *to = object + 1;
    for (const grove_node *m = object + 1; m < end;) {
        const grove_node *next = gv_node_after(m);
        if (m->line != DROPPED_LINE) {
            to = move_member(k, to, m, (uint32_t)(next - m));
        }
        m = next;
    }
    object->b -= dropped;
    object->a = (uint32_t)(to - object);
}

/* Writes the index behind the members; k->sorted is set. */
static void write_index(const gv_keys *k, grove_node *object) {
    grove_node *index = object + object->a;
    for (size_t i = 0; i < k->sorted.n; i += GV_INDEX_WIDTH) {
        uint32_t slots[GV_INDEX_WIDTH] = {0};
        for (size_t j = 0; j < GV_INDEX_WIDTH && i + j < k->sorted.n; j++) {
            slots[j] = (uint32_t)((const grove_node *)k->sorted.v[i + j] - object);
        }
        *index++ = (grove_node){GV_INDEX, slots[0], slots[1], slots[2], slots[3], slots[4]};
    }
    object->a = (uint32_t)(index - object);
}

grove_status gv_keys_close(gv_keys *k, grove_node *object, bool strict,
                           const grove_node **out_second) {
    *out_second = NULL;
    const bool large = object->b >= GV_INDEX_FROM;
    if (large && !sort_members(k, object)) {
        return GROVE_E_NOMEM;
    }
    const grove_node *second = large           ? check_sorted(k)
                               : object->b > 1 ? check_small(k, object)
                                               : NULL;
    if (second && strict) {
        *out_second = second;
        return GROVE_OK;
    }
    if (second) {
        if (!large && !sort_members(k, object)) {
            return GROVE_E_NOMEM;
        }
        drop_earlier(k, object);
        if (object->b >= GV_INDEX_FROM && !sort_members(k, object)) {
            return GROVE_E_NOMEM;
        }
    }
    if (object->b >= GV_INDEX_FROM) {
        write_index(k, object);
    }
    return GROVE_OK;
}
