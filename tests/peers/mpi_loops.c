/*
 * The loops of well-known MPI benchmarks, by their definitions and as plainly as C has them: what wirespeed's own loops
 * are compared with. Not a benchmark of its own: no options, no checks beyond the number of ranks.
 *
 *   mpi_loops osu_latency|osu_bw|osu_mbw_mr|pre_post|bare SIZE WINDOW ITERATIONS WARMUP CACHE
 *
 * Rank 0 prints two numbers: the figure from the mean, as the definition has it, and the same from the median iteration.
 * One-way times in ns for osu_latency, messages per second for the others (pre_post: of one rank, sends and receives); bare
 * prints its mean round trip in ns alone.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DATA = 1, ACK = 2 };

static int rank, ranks, size, window, iterations, warmup;
static size_t cache_words;
static char *out, *in;
static int *cache;
static double *times;
static MPI_Request *requests;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(void)
{
    qsort(times, iterations, sizeof *times, by_size);
    return (times[(iterations - 1) / 2] + times[iterations / 2]) / 2;
}

static double mean(void)
{
    double sum = 0;
    for (int i = 0; i < iterations; i++)
        sum += times[i];
    return sum / iterations;
}

/* Fill the caches with other data. */
static void clear(void)
{
    volatile int *words = cache;
    if (cache_words == 0)
        return;
    words[0] = 1;
    for (size_t i = 1; i < cache_words; i++)
        words[i] = words[i - 1];
}

static void there_and_back(void)
{
    if (rank == 0) {
        MPI_Send(out, size, MPI_CHAR, 1, DATA, MPI_COMM_WORLD);
        MPI_Recv(in, size, MPI_CHAR, 1, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, size, MPI_CHAR, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, size, MPI_CHAR, 0, DATA, MPI_COMM_WORLD);
    }
}

/* One blocking ping-pong; the clock is read before and after it. */
static double ping_pong(void)
{
    double start = MPI_Wtime();
    there_and_back();
    return MPI_Wtime() - start;
}

/* Blocking ping-pongs with nothing between them: the mean round trip. */
static double bare(void)
{
    for (int i = 0; i < warmup; i++)
        there_and_back();
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < iterations; i++)
        there_and_back();
    return (MPI_Wtime() - start) / iterations;
}

/* A window one way from one buffer into one, and an acknowledgement of one byte. */
static double one_way(int in_step)
{
    int half = ranks / 2;
    char byte = 0;
    if (in_step)
        MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (rank < half) {
        for (int i = 0; i < window; i++)
            MPI_Isend(out, size, MPI_CHAR, rank + half, DATA, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(&byte, 1, MPI_CHAR, rank + half, ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < window; i++)
            MPI_Irecv(in, size, MPI_CHAR, rank - half, DATA, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        MPI_Send(&byte, 1, MPI_CHAR, rank - half, ACK, MPI_COMM_WORLD);
    }
    return MPI_Wtime() - start;
}

static void post_receives(void)
{
    for (int i = 0; i < window; i++)
        MPI_Irecv(in + (size_t)i * size, size, MPI_CHAR, (rank + ranks - 1) % ranks, DATA, MPI_COMM_WORLD,
                  &requests[i]);
}

/* Receives were posted before: sends, one wait, the next receives. Every message has a place of its own. */
static double pre_posted(int last)
{
    clear();
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < window; i++)
        MPI_Isend(out + (size_t)i * size, size, MPI_CHAR, (rank + 1) % ranks, DATA, MPI_COMM_WORLD,
                  &requests[window + i]);
    MPI_Waitall(2 * window, requests, MPI_STATUSES_IGNORE);
    if (!last)
        post_receives();
    return MPI_Wtime() - start;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 7 || ranks < 2 || ranks % 2 != 0) {
        if (rank == 0)
            fprintf(stderr, "usage: mpi_loops TEST SIZE WINDOW ITERATIONS WARMUP CACHE, on an even number of ranks\n");
        MPI_Finalize();
        return 2;
    }
    const char *test = argv[1];
    size = atoi(argv[2]), window = atoi(argv[3]), iterations = atoi(argv[4]), warmup = atoi(argv[5]);
    cache_words = (size_t)atol(argv[6]) / sizeof *cache;
    size_t bytes = (size_t)size * window + 1;
    out = malloc(bytes), in = malloc(bytes), cache = malloc((cache_words + 1) * sizeof *cache);
    times = malloc((iterations + 1) * sizeof *times), requests = malloc(2 * window * sizeof *requests);
    if (!out || !in || !cache || !times || !requests)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(out, 'a', bytes), memset(in, 'b', bytes);

    if (strcmp(test, "bare") == 0) {
        double round_trip = bare();
        if (rank == 0)
            printf("%.3f\n", round_trip * 1e9);
        MPI_Finalize();
        return 0;
    }
    int latency = strcmp(test, "osu_latency") == 0, posted = strcmp(test, "pre_post") == 0;
    int in_step = strcmp(test, "osu_mbw_mr") == 0;
    if (posted)
        post_receives();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < warmup + iterations; i++) {
        double took = latency ? ping_pong() : posted ? pre_posted(i == warmup + iterations - 1) : one_way(in_step);
        if (i >= warmup)
            times[i - warmup] = took;
    }
    /* The mean is over the ranks that the definition takes; the median is of the slowest rank's iteration. */
    double own = mean(), of_all = own, average = own;
    double senders = ranks / 2, *slowest = malloc(iterations * sizeof *slowest);
    MPI_Reduce(times, slowest, iterations, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    double part = posted || rank < ranks / 2 ? own : 0;
    MPI_Reduce(&part, &of_all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        average = of_all / (posted ? ranks : senders);
        if (latency) {
            printf("%.3f %.3f\n", own / 2 * 1e9, median() / 2 * 1e9);
        } else {
            double messages = posted ? 2.0 * window : senders * window;
            if (posted || in_step)
                memcpy(times, slowest, iterations * sizeof *times);
            printf("%.1f %.1f\n", messages / average, messages / median());
        }
    }
    MPI_Finalize();
    return 0;
}
