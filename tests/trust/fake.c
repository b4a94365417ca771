/* The good fake of fake.py as a small program: what the suite starts in place of a Python, in 1 ms instead of 50.
 *
 * It is called as `python -m MODULE ...` and answers as the probe, the reference kernels, the telemetry or a worker,
 * with the real ones' ends: a parent-death signal some time after the start, and the end of standard input.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void say(const char *line) {
    if (write(1, line, strlen(line)) < 0) _exit(1);
}

/* Rest so long; leave if the parent closes standard input. */
static void rest(double pause) {
    struct pollfd input = {0, POLLIN, 0};
    char byte;
    if (poll(&input, 1, (int)(1000 * pause)) > 0 && read(0, &byte, 1) <= 0) _exit(1);
}

static void tell_offer(const char *self) {
    char path[4096], content[65536];
    snprintf(path, sizeof path, "%s", self);
    char *end = strrchr(path, '/');
    snprintf(end, path + sizeof path - end, "/offer.json");
    FILE *file = fopen(path, "r");
    if (!file) _exit(2);
    content[fread(content, 1, sizeof content - 2, file)] = 0;
    say(strcat(content, "\n"));
}

static void watch_machine(void) {
    char line[512];
    say("{\"type\":\"counters\"}\n");
    for (;;) {
        double at = seconds(CLOCK_MONOTONIC);
        snprintf(line, sizeof line,
                 "{\"type\":\"sample\",\"at\":%.6f,\"capacity_seconds\":%.6f,\"busy_seconds\":%.6f,"
                 "\"own_seconds\":%.6f,\"worker_seconds\":%.6f}\n",
                 at, 2 * at, at, 0.01 * at, 0.9 * at);
        say(line);
        for (double until = at + 0.08; seconds(CLOCK_MONOTONIC) < until;) rest(0.02);
    }
}

static double uniform(void) { return rand() / (RAND_MAX + 1.0); }

static const char *sample(void) {
    static char text[128];
    double took = 0.0005 * (1 + 0.05 * uniform());
    snprintf(text, sizeof text, "{\"wall_seconds\":%.9f,\"process_seconds\":%.9f}", took, took);
    return text;
}

static void end_stage(const char *stage) {
    char line[256];
    snprintf(line, sizeof line,
             "{\"stage\":\"%s\",\"stage_time\":{\"name\":\"%s\",\"wall_seconds\":0.001,\"process_seconds\":0.001}}\n",
             stage, stage);
    say(line);
}

static void begin(const char *stage) {
    char line[64];
    snprintf(line, sizeof line, "{\"stage\":\"%s\"}\n", stage);
    say(line);
}

#define BLANK \
    "\"round\":0,\"position\":0,\"seed\":0,\"started\":\"\",\"input_digest\":\"d\",\"peak_memory_bytes\":1," \
    "\"first_loss\":2.0,\"last_loss\":1.0"

static void measure(void) {
    static char task[1 << 20], runs[4096], line[8192];
    static const char *stages[] = {"import", "data", "init", "lower", "compile", "first_step", "warmup", "samples"};
    static const char *scopes[][2] = {{"step", "samples"}, {"transfer", "transfer_samples"}};
    size_t length = 0;
    while (!length || task[length - 1] != '\n') {
        ssize_t more = read(0, task + length, sizeof task - 1 - length);
        if (more <= 0) _exit(1);
        length += more;
    }
    const char *plan = strstr(task, "\"samples\":");
    int samples = plan ? atoi(plan + 10) : 3;
    for (size_t n = 0; n < sizeof stages / sizeof *stages; n++) {
        begin(stages[n]);
        rest(0.002 * uniform());
        if (strcmp(stages[n], "data") && strcmp(stages[n], "warmup") && strcmp(stages[n], "samples"))
            end_stage(stages[n]);
    }
    if (strstr(task, "\"scope\":\"cold\""))
        snprintf(runs, sizeof runs, "\"cold\":{" BLANK ",\"steps_per_sample\":1,\"samples\":[%s]}", sample());
    for (int n = 0; n < 2; n++) {
        snprintf(line, sizeof line, "\"scope\":\"%s\"", scopes[n][0]);
        if (!strstr(task, line)) continue;
        begin(scopes[n][1]);
        for (int each = 0; each < samples; each++) {
            snprintf(line, sizeof line, "{\"stage\":\"%s\",\"sample\":%s}\n", scopes[n][1], sample());
            say(line);
        }
        size_t used = strlen(runs);
        snprintf(runs + used, sizeof runs - used,
                 "%s\"%s\":{" BLANK ",\"steps_per_sample\":4,\"doubling_ratio\":2.0,\"warmup\":[%s],\"compilations\":0,"
                 "\"load_by_others\":0.0}",
                 used ? "," : "", scopes[n][0], sample());
    }
    snprintf(line, sizeof line,
             "{\"stage\":\"done\",\"report\":{\"runs\":{%s},\"software\":{\"suite\":\"0\",\"python\":\"3.12.1\","
             "\"packages\":{\"jax\":\"0\"},\"settings\":{}}}}\n",
             runs);
    say(line);
}

int main(int count, char **words) {
    if (count < 3) return 2;
    const char *module = words[2];
    srand(getpid() ^ (unsigned)(1e6 * seconds(CLOCK_MONOTONIC)));
    if (!strcmp(module, "suite.telemetry.kernel")) {
        say("{\"matmul_flop_per_second\":1e9,\"copy_bytes_per_second\":1e9,\"seconds\":0.1}\n");
        return 0;
    }
    usleep((useconds_t)(2000 * uniform())); /* a real one imports before it asks for the signal */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!strcmp(module, "suite.worker.probe")) tell_offer(words[0]);
    else if (!strcmp(module, "suite.telemetry.process")) watch_machine();
    else measure();
    return 0;
}
