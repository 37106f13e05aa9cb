/* SPDX-License-Identifier: Apache-2.0 */
/* `groved ctl`: asks a running daemon. */
#include "groved.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int send_words(int fd, int n_words, char **words) {
    for (int i = 0; i < n_words; i++) {
        size_t n = strlen(words[i]);
        if (write(fd, words[i], n) != (ssize_t)n ||
            write(fd, i + 1 < n_words ? " " : "\n", 1) != 1) {
            return -1;
        }
    }
    return n_words ? 0 : (int)write(fd, "help\n", 5) - 5;
}

int groved_control(const char *path, int n_words, char **words) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char bytes[4096];
    ssize_t n = 0;
    int first = 1, code = EXIT_DONE;
    if (strlen(path) >= sizeof at.sun_path) {
        groved_say("the path of the control socket is too long");
        return EXIT_WRONG_USAGE;
    }
    memcpy(at.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof at) < 0 ||
        send_words(fd, n_words, words) < 0) {
        groved_say("%s: %s", path, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return EXIT_FAILED;
    }
    while ((n = read(fd, bytes, sizeof bytes)) > 0) {
        if (first && n >= 6 && memcmp(bytes, "error:", 6) == 0) {
            code = EXIT_FAILED;
        }
        first = 0;
        (void)fwrite(bytes, 1, (size_t)n, stdout);
    }
    close(fd);
    return n < 0 ? EXIT_FAILED : code;
}
