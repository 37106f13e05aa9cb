/* SPDX-License-Identifier: Apache-2.0 */
/* How many manifests of four cliques are judged in a second, and what one costs in memory. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <grove/admission.h>

/* ---- memory in use, and its peak ---- */

typedef struct meter {
    uint64_t now, peak, calls;
} meter;

static void count(meter *m, size_t more, size_t less) {
    m->now += more;
    m->now -= less;
    m->peak = m->now > m->peak ? m->now : m->peak;
    m->calls++;
}

static void *meter_alloc(void *ctx, size_t n) {
    count(ctx, n, 0);
    return malloc(n);
}

static void *meter_resize(void *ctx, void *p, size_t old_n, size_t n) {
    count(ctx, n, old_n);
    return realloc(p, n);
}

static void meter_release(void *ctx, void *p, size_t n) {
    count(ctx, 0, n);
    free(p);
}

/* ---- the manifest ---- */

static const char CLIQUE[] =
    "{\"name\":\"c%d\",\"labels\":{\"app\":\"chat\"},\"spec\":{\"roleName\":\"r%d\",\"replicas\":4,"
    "\"minAvailable\":2,\"podSpec\":{\"schedulerName\":\"kai-scheduler\",\"tolerations\":[{\"key\":"
    "\"nvidia.com/gpu\",\"operator\":\"Exists\"}],\"containers\":[{\"name\":\"main\",\"image\":"
    "\"example.com/engine:1.4\",\"command\":[\"python3\",\"-m\",\"engine\"],\"args\":[\"--model\","
    "\"m\",\"--tp\",\"8\"],\"env\":[{\"name\":\"LEVEL\",\"value\":\"info\"},{\"name\":\"POD\","
    "\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.name\"}}}],\"ports\":[{"
    "\"containerPort\":"
    "8000,\"name\":\"http\"}],\"resources\":{\"requests\":{\"cpu\":\"4\",\"memory\":\"64Gi\"},"
    "\"limits\":{\"nvidia.com/gpu\":8}},\"readinessProbe\":{\"httpGet\":{\"path\":\"/health\","
    "\"port\":8000},\"periodSeconds\":5}}]}}}";

static char *manifest(void) {
    char *text = malloc(16384);
    size_t n = (size_t)sprintf(
        text,
        "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":"
        "\"chat\",\"labels\":{\"kai.scheduler/queue\":\"team\"}},\"spec\":{\"replicas\":2,"
        "\"template\":{\"cliques\":[");
    for (int i = 0; i < 4; i++) {
        n += (size_t)sprintf(text + n, i ? "," : "");
        n += (size_t)sprintf(text + n, CLIQUE, i, i);
    }
    sprintf(text + n,
            "],\"podCliqueScalingGroups\":[{\"name\":\"g\",\"cliqueNames\":[\"c1\",\"c2\"],"
            "\"replicas\":2,\"minAvailable\":1,\"scaleConfig\":{\"maxReplicas\":5}}]}}}");
    return text;
}

static void die(const char *what) {
    fprintf(stderr, "bench_admission: %s\n", what);
    exit(1);
}

/* Time of this process, so that neighbours do not count. */
static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* From the text to the verdict. */
static void judge(grove_env *env, grove_config *config, const char *text, size_t len) {
    grove_validate_options options = {.size = sizeof options, .config = config};
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    grove_doc *doc = NULL;
    grove_diags *found = NULL;
    if (grove_doc_parse_json(env, text, len, GROVE_PARSE_STRICT, &doc, NULL) < 0 ||
        grove_diags_new(env, &found) < 0 ||
        grove_validate(env, doc, grove_doc_root(doc), NULL, NULL, &options, found, &verdict, NULL) <
            0) {
        die("no verdict");
    }
    if (!verdict.allowed) {
        die(grove_diags_at(found, 0)->message);
    }
    grove_diags_free(found);
    grove_doc_unref(doc);
}

int main(void) {
    meter m = {0};
    grove_allocator allocator = {sizeof allocator, 0, &m, meter_alloc, meter_resize, meter_release};
    grove_env_options options = {.size = sizeof options, .allocator = &allocator};
    grove_env *env = NULL;
    grove_config *config = NULL;
    char *text = manifest();
    size_t len = strlen(text);
    if (grove_env_new(&options, &env) < 0 || grove_config_new(env, &config) < 0) {
        die("out of memory");
    }
    uint64_t before = m.now, calls = m.calls;
    judge(env, config, text, len);
    uint64_t peak = m.peak - before, allocations = m.calls - calls;
    int n = 0;
    double start = seconds(), spent = 0;
    while (spent < 1.0) {
        for (int i = 0; i < 500; i++, n++) {
            judge(env, config, text, len);
        }
        spent = seconds() - start;
    }
    printf("one manifest: 4 cliques, %zu bytes of JSON, from text to verdict\n", len);
    printf("%.0f validations/s on one core, peak %llu KB, %llu calls of the allocator\n", n / spent,
           (unsigned long long)peak / 1024, (unsigned long long)allocations);
    printf("{\"bench\":\"admission\",\"figure\":\"validations_s\",\"value\":%.0f,\"unit\":\"1/s\","
           "\"setting\":\"4 cliques, %zu bytes, parse included, one core\"}\n",
           n / spent, len);
    printf("{\"bench\":\"admission\",\"figure\":\"peak_kb\",\"value\":%llu,\"unit\":\"KB\","
           "\"setting\":\"4 cliques, %zu bytes\"}\n",
           (unsigned long long)peak / 1024, len);
    free(text);
    grove_config_unref(config);
    grove_env_unref(env);
    return 0;
}
