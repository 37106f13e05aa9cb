/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon itself takes from the OperatorConfiguration: addresses, lease, certificates, log. */
#ifndef GROVED_SETTINGS_H
#define GROVED_SETTINGS_H

#include <grove/config.h>

typedef struct settings_address {
    const char *host; /* "": all interfaces */
    int64_t port;
} settings_address;

/* Texts are borrowed from `doc`, or static. */
typedef struct settings {
    grove_config *config;
    grove_doc *doc; /* the OperatorConfiguration; NULL: none was given */
    int leader_election;
    int64_t lease_ns, renew_ns, retry_ns;
    const char *lease_name;
    const char *lease_namespace; /* "": that of the daemon */
    settings_address webhooks, probes, metrics;
    const char *cert_dir;
    const char *cert_secret;
    int manual_certs; /* taken from cert_dir, never made */
    const char *log_level;
    const char *log_format;
    int authorizer;
    int guard_scale;          /* scaling below minAvailable is refused, by a webhook */
    const grove_node *exempt; /* array of user names that the authorizer lets through */
    int topology;
    int mnnvl;
    const grove_node *profiles; /* array */
} settings;

/* path NULL: the defaults. Returns an exit code and has printed why. */
int settings_read(grove_env *env, const char *path, settings *out);
void settings_fini(settings *s);
/* Whether the scheduler profile of this name is configured. */
int settings_has_profile(const settings *s, const char *name);
/* Whether groved itself binds pods: it then watches nodes and all pods. */
int settings_binds(const settings *s);
/* "1m30s", as Go writes durations, in nanoseconds; -1 for another text. */
int64_t settings_duration(const char *text);

#endif
