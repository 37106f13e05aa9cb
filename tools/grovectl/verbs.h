/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of grovectl: one file each, cmd_<verb>.c; argv[0] is the verb. */
#ifndef GROVECTL_VERBS_H
#define GROVECTL_VERBS_H

#define EXIT_OK 0
#define EXIT_REFUSED 1 /* judged, and the answer is no */
#define EXIT_USAGE 2   /* wrong usage or unreadable input */

typedef struct verb {
    const char *name;
    const char *summary; /* one line for `grovectl help` */
    int (*run)(int argc, char **argv);
} verb;

extern const verb grovectl_verbs[]; /* ends with a NULL name */

int cmd_crd(int argc, char **argv);
int cmd_migrate(int argc, char **argv);
int cmd_place(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_rollout(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_fit(int argc, char **argv);
int cmd_tree(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_default(int argc, char **argv);
int cmd_render(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_whatif(int argc, char **argv);

#endif
