/* SPDX-License-Identifier: Apache-2.0 */
/* Pods whose image wants a device that nobody asked for, and gangs that end before their pods can. */
#include "admission/lint.h"

#include "value/scalar.h"

#define SECOND 1000000000

static bool contains(gv_str text, const char *word) {
    gv_str w = gv_str_c(word);
    for (size_t i = 0; i + w.n <= text.n; i++) {
        if (memcmp(text.p + i, w.p, w.n) == 0) {
            return true;
        }
    }
    return false;
}

static bool wants_device(gv_str image) {
    static const char *const words[] = {"cuda",   "vllm",   "sglang", "tensorrt",
                                        "trtllm", "triton", "rocm",   "nccl"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (contains(image, words[i])) {
            return true;
        }
    }
    return false;
}

/* A resource with a domain in its name comes from a device plugin. */
static bool asks_for_device(const grove_node *pod) {
    static const char *const lists[] = {"requests", "limits"};
    GV_EACH(container, grove_node_get(pod, "containers")) {
        const grove_node *resources = grove_node_get(container, "resources");
        for (size_t i = 0; i < 2; i++) {
            GV_EACH(amount, grove_node_get(resources, lists[i])) {
                if (contains(gv_node_key(amount), "/")) {
                    return true;
                }
            }
        }
        if (grove_node_size(grove_node_get(resources, "claims")) > 0) {
            return true;
        }
    }
    return grove_node_size(grove_node_get(pod, "resourceClaims")) > 0;
}

static void check_images(gv_lint *l, const grove_node *clique, const gv_path *pod_path) {
    const grove_node *pod = gv_node_path(clique, "spec.podSpec");
    gv_path list = gv_path_key(pod_path, "containers", 10);
    bool shares = grove_node_size(grove_node_get(l->tmpl, "resourceSharing")) > 0 ||
                  grove_node_size(grove_node_get(clique, "resourceSharing")) > 0;
    const grove_node *group = gv_lint_group_of(l, gv_node_get_str(clique, "name"));
    uint32_t i = 0;
    if (shares || grove_node_size(grove_node_get(group, "resourceSharing")) > 0 ||
        asks_for_device(pod)) {
        return;
    }
    GV_EACH(container, grove_node_get(pod, "containers")) {
        gv_path entry = gv_path_index(&list, i++);
        gv_path here = gv_path_key(&entry, "image", 5);
        const grove_node *image = grove_node_get(container, "image");
        if (wants_device(gv_node_str(image))) {
            GV_LINT(l, GV_CODE_LINT_NO_DEVICE, &here, image,
                    "the image is for accelerators, and no container of the pod asks for one");
        }
    }
}

static void check_grace(gv_lint *l, const grove_node *clique, const gv_path *pod_path) {
    const grove_node *pod = gv_node_path(clique, "spec.podSpec");
    gv_str text = gv_node_get_str(l->tmpl, "terminationDelay");
    gv_path here = gv_path_key(pod_path, "terminationGracePeriodSeconds", 29);
    int64_t grace = gv_node_get_int(pod, "terminationGracePeriodSeconds", 0), delay = 0;
    if (gv_duration_parse(text, &delay, NULL) == GROVE_OK && grace > delay / SECOND) {
        GV_LINT(l, GV_CODE_LINT_GRACE, &here, grove_node_get(pod, "terminationGracePeriodSeconds"),
                "%lld seconds to stop, and the gang is ended after %.*s: a pod that is being "
                "replaced can end its gang",
                (long long)grace, (int)text.n, text.p);
    }
}

void gv_lint_devices(gv_lint *l) {
    uint32_t i = 0;
    GV_EACH(clique, l->cliques) {
        gv_path entry = gv_path_index(&l->cliques_path, i++);
        gv_path spec = gv_path_key(&entry, "spec", 4), pod = gv_path_key(&spec, "podSpec", 7);
        check_images(l, clique, &pod);
        check_grace(l, clique, &pod);
    }
}
