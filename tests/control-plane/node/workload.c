/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the pods of the real node run, static and alone in its image:
 *
 *     workload pause             waits for its end: the sandbox container
 *     workload serve [SECONDS]   says who it is, is Ready after so many seconds, waits for its end
 *     workload ready             exit status 0 once it is (the readiness probe)
 *     workload report            says who it is
 *     workload end [CODE]        ends the container it is called in
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK "/ready"
#define WISH "/code"

extern char **environ;

static volatile sig_atomic_t ended;

static void on_signal(int number) {
    (void)number;
    ended = 1;
}

static void copy_line(const char *path, char *out, int bytes) {
    FILE *f = fopen(path, "r");
    if (!f || !fgets(out, bytes, f)) {
        out[0] = '\0';
    }
    if (f) {
        (void)fclose(f);
    }
    out[strcspn(out, "\n")] = '\0';
}

static int report(void) {
    char name[256] = "", file[256] = "";
    (void)gethostname(name, sizeof name - 1);
    copy_line("/etc/hostname", file, (int)sizeof file);
    printf("hostname=%s\n/etc/hostname=%s\n", name, file);
    for (char **e = environ; *e; e++) {
        if (strncmp(*e, "GROVE_", 6) == 0) {
            printf("%s\n", *e);
        }
    }
    return fflush(stdout) ? 1 : 0;
}

static int touch(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0) {
        perror(path);
        return 1;
    }
    ssize_t n = write(fd, text, strlen(text));
    return close(fd) || n < 0;
}

/* The process that the runtime started: it also takes the exit status of orphans. */
static int stay(int seconds_to_ready) {
    struct sigaction act = {.sa_handler = on_signal};
    (void)sigaction(SIGTERM, &act, NULL);
    (void)sigaction(SIGINT, &act, NULL);
    for (int past = 0; !ended; past++) {
        if (past == seconds_to_ready && touch(MARK, "")) {
            return 1;
        }
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
        (void)sleep(1);
    }
    char code[16];
    copy_line(WISH, code, (int)sizeof code);
    return atoi(code);
}

int main(int argc, char **argv) {
    const char *verb = argc > 1 ? argv[1] : "pause", *more = argc > 2 ? argv[2] : "0";
    if (strcmp(verb, "pause") == 0) {
        return stay(-1);
    }
    if (strcmp(verb, "serve") == 0) {
        return report() ? 1 : stay(atoi(more));
    }
    if (strcmp(verb, "report") == 0) {
        return report();
    }
    if (strcmp(verb, "ready") == 0) {
        return access(MARK, F_OK) ? 1 : 0;
    }
    if (strcmp(verb, "end") == 0) {
        return touch(WISH, more) || kill(1, SIGTERM);
    }
    fprintf(stderr, "workload: unknown verb '%s'\n", verb);
    return 2;
}
