/* SPDX-License-Identifier: Apache-2.0 */
/* The kubeconfig that leads to the server. */
#include "groved.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char head[] = "apiVersion: v1\n"
                           "kind: Config\n"
                           "clusters:\n"
                           "- name: grove\n"
                           "  cluster:\n"
                           "    server: http%s://%s\n";
static const char tail[] =
    "users:\n"
    "- name: grove\n"
    "  user: {token: embedded}\n" /* kubectl asks for a password where TLS has none */
    "contexts:\n"
    "- name: grove\n"
    "  context:\n"
    "    cluster: grove\n"
    "    user: grove\n"
    "    namespace: default\n"
    "current-context: grove\n";

static int put_base64(FILE *f, const char *text) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = strlen(text);
    int bad = 0;
    for (size_t i = 0; i < n; i += 3) {
        size_t k = n - i < 3 ? n - i : 3;
        unsigned v = 0;
        for (size_t j = 0; j < 3; j++) {
            v = v << 8 | (j < k ? (unsigned char)text[i + j] : 0U);
        }
        for (size_t j = 0; j < 4; j++) {
            bad |= fputc(j <= k ? digits[v >> (18 - 6 * j) & 63] : '=', f) == EOF;
        }
    }
    return bad;
}

static int put_authority(FILE *f, const char *authority) {
    int bad = fputs("    certificate-authority-data: ", f) == EOF;
    bad |= put_base64(f, authority);
    return bad | (fputc('\n', f) == EOF);
}

static int write_to(int fd, const char *address, const char *authority) {
    FILE *f = fdopen(fd, "w");
    if (!f) {
        close(fd);
        return -1;
    }
    int bad = fprintf(f, head, authority ? "s" : "", address) < 0;
    bad |= authority ? put_authority(f, authority) : 0;
    bad |= fputs(tail, f) == EOF;
    bad |= fchmod(fd, S_IRUSR | S_IWUSR) != 0;
    bad |= fclose(f) != 0;
    return bad ? -1 : 0;
}

int groved_write_kubeconfig(const char *path, const char *address, const char *authority) {
    size_t n = strlen(path) + sizeof ".XXXXXX";
    char *draft = malloc(n); /* renamed when it is whole: readers never see half of it */
    if (!draft) {
        return -1;
    }
    (void)snprintf(draft, n, "%s.XXXXXX", path);
    int fd = mkstemp(draft), code = -1;
    if (fd >= 0) {
        code = write_to(fd, address, authority);
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
