/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attest - certifies attention kernels. This file: commands, signals, exit codes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "certify/cli/commands.h"

static volatile sig_atomic_t stop;

static void on_signal(int number) {
    (void)number;
    if (stop) { /* a second one does not wait for anything */
        _exit(130);
    }
    stop = 1;
}

static const char help[] =
    "usage: attest COMMAND [OPTION]... ARGUMENT...\n"
    "\n"
    "  certify TARGET           run every check; exit 0 certified, 1 not, 2 usage or trouble\n"
    "  fuzz TARGET              draw cases for --time 60 seconds or --cases N, "
    "or until one fails;\n"
    "                           that is shrunk and printed with what shows it again\n"
    "  fingerprint TARGET       which conventions it follows, and the profiles that fit\n"
    "  model TARGET             the tightest arithmetic model it passes under, and why the next "
    "fails\n"
    "  replay CASE TARGET       run one case again: its id, or its whole line\n"
    "  shrink CASE TARGET       make a failing case smaller while it fails; "
    "--output FILE.c writes\n"
    "                           it as a C program (of a Python target: FILE.py, a script)\n"
    "  list [checks|cases TARGET]  the checks, or the cases of a level for a kernel\n"
    "  explain ID               a requirement (MASK-01), check (poison), verdict (MISTRUSTED) or\n"
    "                           bug class (32)\n"
    "  diff BASELINE NEW        compare two JSON reports; --gate: exit 1 on regressions only\n"
    "  report REPORT            print a JSON report, and write it as --html and so on\n"
    "  verify BUNDLE            judge a run again, without the kernel, by the second oracle\n"
    "  merge REPORT...          join the JSON reports of all shards into one verdict\n"
    "  vectors import-onnx DIR OUT  ONNX test folders as vectors; names the defects of wrong ones\n"
    "\n"
    "TARGET is a shared object (./libkernel.so), builtin:NAME, exec:PROGRAM, py:FILE:FUNCTION or\n"
    "py:MODULE:FUNCTION (ATTEST_PYTHON: the interpreter, else the first python3 in PATH).\n"
    "\n"
    "  --level smoke|quick|full|exhaustive   how much (quick)   --seed N       source of data (1)\n"
    "  --profile NAME|FILE   conventions of defaults            --model NAME   arithmetic\n"
    "  --jobs N              workers at once                    --shard I/N    part of the cases\n"
    "  --only LIST  --skip LIST   checks, by name, K-code or requirement\n"
    "  --json FILE  --junit FILE  --html FILE  --sarif FILE  --markdown FILE  write a report\n"
    "  --badge FILE          SVG, or JSON for badge services    --waivers FILE accepted failures\n"
    "  --bundle FILE         all the kernel answered, for attest verify; --sign FILE with a key\n"
    "  --statement FILE      an in-toto statement; --key HEX  of verify: signed by it\n"
    "  --budget TIME         the cases of a level that 90s, 10m ... allow, loading included\n"
    "  --sandbox strict|relaxed   --require full   --call-time SECONDS (10)   --memory MIB (2048)\n"
    "  --load-time SECONDS   for loading the kernel or importing the function (12, Python 60)\n"
    "  --read DIR            a folder or file that the kernel may read besides its own file\n"
    "  --env NAME            a variable that it sees; both may be given more than once\n"
    "  --validate            check each protocol message against its schema   --quiet\n"
    "  --time SECONDS        of the whole run "
    "(smoke 600, quick 3600, full a day, exhaustive a week)\n"
    "  --first-failure       stop at the first case that fails\n"
    "  --cases N             of fuzz: how many at most          "
    "--output FILE.c of fuzz and shrink\n"
    "\n"
    "examples:\n"
    "  attest certify ./libmykernel.so\n"
    "  attest certify builtin:naive --level smoke --json report.json\n"
    "  attest certify py:attention.py:forward\n"
    "  attest model ./libmykernel.so --level smoke\n"
    "  attest replay 3f2a9c0d11e85b67 ./libmykernel.so\n"
    "  attest fuzz ./libmykernel.so --time 600 --seed 7 --output failure.c\n"
    "  attest certify ./k.so --level full --shard 1/4 --json 1.json   (then: attest merge *.json)\n"
    "  attest report report.json --html report.html --badge badge.svg\n"
    "  attest certify ./k.so --bundle k.attest --sign key.hex   (then: attest verify k.attest)\n"
    "  attest diff --gate baseline.json report.json\n";

static const struct {
    const char *name;
    int (*run)(const attest_settings *settings);
    int least, most; /* arguments */
} commands[] = {
    {"certify", attest_command_certify, 1, 1},
    {"replay", attest_command_replay, 2, 2},
    {"fingerprint", attest_command_fingerprint, 1, 1},
    {"model", attest_command_model, 1, 1},
    {"fuzz", attest_command_fuzz, 1, 1},
    {"shrink", attest_command_shrink, 2, 2},
    {"list", attest_command_list, 0, 2},
    {"explain", attest_command_explain, 1, 1},
    {"diff", attest_command_diff, 2, 2},
    {"report", attest_command_report, 1, 1},
    {"verify", attest_command_verify, 1, 1},
    {"merge", attest_command_merge, 1, ATTEST_MOST_WORDS},
    {"vectors", attest_command_vectors, 3, 3},
};

static int usage(const char *why) {
    fprintf(stderr, "attest: %s (attest --help)\n", why);
    return 2;
}

/* Whoever reads a verdict from a pipe or a file must have all of it. */
static int flushed(int code) {
    return fflush(stdout) == 0 && !ferror(stdout)
               ? code
               : attest_trouble("standard output cannot be written");
}

/* Else a file that is opened later would have the number of standard output. */
static int streams_ready(void) {
    int ready = 1;
    for (int stream = 0; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) < 0) {
            ready = open("/dev/null", O_RDWR) == stream && stream != STDOUT_FILENO && ready;
        }
    }
    return ready;
}

int main(int argc, char **argv) {
    if (!streams_ready()) {
        return attest_trouble("standard output is closed");
    }
    if (argc < 2) {
        fputs(help, stderr);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0 ||
            (i == 1 && strcmp(argv[i], "help") == 0)) {
            fputs(help, stdout);
            return flushed(0);
        }
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("attest %s (ABI %u, specification %s)\n", ATTEST_SUITE_VERSION, ATTEST_ABI_VERSION,
               ATTEST_SPEC_VERSION);
        return flushed(0);
    }
    /* A worker without capabilities cannot look into a process that is not dumpable. */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    signal(SIGPIPE, SIG_IGN);
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    if (sodium_init() < 0) {
        return usage("libsodium cannot be initialised");
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[1], commands[i].name) != 0) {
            continue;
        }
        attest_settings settings;
        char why[ATTEST_MESSAGE_BYTES];
        if (!attest_settings_parse(&settings, argc - 1, argv + 1, why)) {
            return usage(why);
        }
        settings.stop = &stop;
        if (settings.word_count < commands[i].least || settings.word_count > commands[i].most) {
            snprintf(why, sizeof why, "%s takes %s %d, not %d, beside options", commands[i].name,
                     settings.word_count < commands[i].least ? "at least" : "at most",
                     settings.word_count < commands[i].least ? commands[i].least : commands[i].most,
                     settings.word_count);
            return usage(why);
        }
        if (!attest_files_ready(&settings, why)) {
            return attest_trouble(why);
        }
        const int code = commands[i].run(&settings);
        json_decref(settings.waivers);
        return flushed(code);
    }
    char why[ATTEST_MESSAGE_BYTES];
    snprintf(why, sizeof why, "no command is called \"%.60s\"", argv[1]);
    return usage(why);
}
