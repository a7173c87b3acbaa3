/* Two threads of this program measure a ping-pong between them. The runtime is a pthread barrier and an array.
 *
 *     cc two_threads.c $(pkg-config --cflags --libs wirespeed) -pthread -o two_threads
 *     ./two_threads [TRANSPORT [TEST [SIZE [TIME]]]]
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <wirespeed.h>

enum { RANKS = 2 };

struct group {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    unsigned arrived;
    unsigned long generation;
    int32_t lost;  /* a rank has failed: nobody waits for it */
    ws_stop *stop; /* of both: the library cancels it when a rank fails */
    size_t sizes[RANKS];
    unsigned char blobs[RANKS][WS_BLOB_BYTES_MAX];
};

struct rank {
    struct group *group;
    unsigned number;
    const ws_case *parameters;
    ws_status status;
};

/* Every rank waits for the last one; the transport moves on meanwhile. */
static int32_t barrier(void *context, ws_progress progress, void *argument)
{
    struct group *group = ((struct rank *)context)->group;
    pthread_mutex_lock(&group->lock);
    unsigned long generation = group->generation;
    if (++group->arrived == RANKS) {
        group->arrived = 0;
        group->generation++;
        pthread_cond_broadcast(&group->moved);
    }
    while (group->generation == generation && !group->lost) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 1000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&group->moved, &group->lock, &until);
        pthread_mutex_unlock(&group->lock);
        if (progress != NULL)
            progress(argument);
        pthread_mutex_lock(&group->lock);
    }
    int32_t lost = group->generation == generation; /* who was met, was met */
    pthread_mutex_unlock(&group->lock);
    return lost;
}

static void lose(struct group *group)
{
    pthread_mutex_lock(&group->lock);
    group->lost = 1;
    pthread_cond_broadcast(&group->moved);
    pthread_mutex_unlock(&group->lock);
}

static int32_t exchange(void *context, const void *blob, size_t blob_bytes, void *blobs, size_t stride_bytes,
                        size_t *sizes)
{
    struct rank *rank = context;
    struct group *group = rank->group;
    memcpy(group->blobs[rank->number], blob, blob_bytes);
    group->sizes[rank->number] = blob_bytes;
    if (barrier(context, NULL, NULL) != 0) /* all have written */
        return 1;
    for (unsigned i = 0; i < RANKS; i++) {
        memcpy((unsigned char *)blobs + i * stride_bytes, group->blobs[i], group->sizes[i]);
        sizes[i] = group->sizes[i];
    }
    return barrier(context, NULL, NULL); /* all have read */
}

static void report(void *context, const ws_interval *interval)
{
    if (((struct rank *)context)->number == 0)
        fprintf(stderr, "%6.0f ms: %llu operations, typical %.1f ns\n", interval->start_ns / 1e6,
                (unsigned long long)interval->sent_messages, interval->typical_ns);
}

static void *run(void *argument)
{
    struct rank *rank = argument;
    ws_rte rte = {rank, rank->number, RANKS, WS_THREADS, barrier, exchange, NULL};
    ws_result *result = NULL;
    ws_error error;
    rank->status = ws_measure(rank->parameters, &rte, report, rank, rank->group->stop, &result, &error);
    if (rank->status != WS_OK) {
        lose(rank->group);
        fprintf(stderr, "rank %u: %s\n%s\n", rank->number, error.cause, error.remedy);
    }
    ws_summary summary;
    double p99_ns;
    if (rank->number == 0 && ws_result_summary(result, &summary) == 0) {
        printf("%llu operations, typical %.1f ns, average %.1f ns, %.0f a second\n",
               (unsigned long long)summary.sent_messages, summary.typical_ns, summary.average_ns,
               summary.rate_msg_per_s);
        if (ws_result_value(result, "rtt_p99_ns", &p99_ns) == 0)
            printf("99 of 100 round trips within %.1f ns\n", p99_ns);
    }
    ws_result_free(result);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct group group = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
    const char *words[][2] = {{"via", argc > 1 ? argv[1] : "inproc"},
                              {"test", argc > 2 ? argv[2] : "am_lat"},
                              {"size", argc > 3 ? argv[3] : "8"},
                              {"duration", argc > 4 ? argv[4] : "300ms"},
                              {"interval", "100ms"},
                              {"check", "true"}};
    ws_case *parameters = ws_case_new();
    ws_error error;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ws_case_set(parameters, words[i][0], words[i][1], &error) != WS_OK) {
            fprintf(stderr, "%s\n%s\n", error.cause, error.remedy);
            return WS_USAGE;
        }
    group.stop = ws_stop_new();
    struct rank ranks[RANKS];
    pthread_t threads[RANKS];
    for (unsigned i = 0; i < RANKS; i++) {
        ranks[i] = (struct rank){&group, i, parameters, WS_FAILED};
        if (pthread_create(&threads[i], NULL, run, &ranks[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < RANKS; i++)
        pthread_join(threads[i], NULL);
    ws_stop_free(group.stop);
    ws_case_free(parameters);
    return ranks[0].status != WS_OK ? ranks[0].status : ranks[1].status;
}
