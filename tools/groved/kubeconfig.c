/* SPDX-License-Identifier: Apache-2.0 */
/* The kubeconfig that leads to the server. */
#include "groved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char text[] = "apiVersion: v1\n"
                           "kind: Config\n"
                           "clusters:\n"
                           "- name: grove\n"
                           "  cluster:\n"
                           "    server: http://%s\n"
                           "users:\n"
                           "- name: grove\n"
                           "  user: {}\n"
                           "contexts:\n"
                           "- name: grove\n"
                           "  context:\n"
                           "    cluster: grove\n"
                           "    user: grove\n"
                           "    namespace: default\n"
                           "current-context: grove\n";

static int write_to(int fd, const char *address) {
    FILE *f = fdopen(fd, "w");
    if (!f) {
        close(fd);
        return -1;
    }
    int bad = fprintf(f, text, address) < 0;
    bad |= fchmod(fd, S_IRUSR | S_IWUSR) != 0;
    bad |= fclose(f) != 0;
    return bad ? -1 : 0;
}

int groved_write_kubeconfig(const char *path, const char *address) {
    size_t n = strlen(path) + sizeof ".XXXXXX";
    char *draft = malloc(n); /* renamed when it is whole: readers never see half of it */
    if (!draft) {
        return -1;
    }
    (void)snprintf(draft, n, "%s.XXXXXX", path);
    int fd = mkstemp(draft), code = -1;
    if (fd >= 0) {
        code = write_to(fd, address);
        code = code == 0 ? rename(draft, path) : code;
        if (code != 0) {
            int why = errno;
            (void)unlink(draft);
            errno = why;
        }
    }
    free(draft);
    return code;
}
