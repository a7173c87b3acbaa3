/* A process and its child measure between them. The runtime is a pair of sockets, made before the fork.
 *
 *     cc two_processes.c $(pkg-config --cflags --libs wirespeed) -o two_processes
 *     ./two_processes [TRANSPORT [TEST [SIZE [TIME]]]]
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wirespeed.h>

enum { RANKS = 2 };

struct rank {
    uint32_t number;
    int socket;
};

static int write_all(int socket, const void *data, size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        ssize_t done = send(socket, at, bytes, MSG_NOSIGNAL);
        if (done <= 0)
            return 1;
        at += done;
        bytes -= (size_t)done;
    }
    return 0;
}

static int read_all(int socket, void *data, size_t bytes)
{
    for (char *at = data; bytes > 0;) {
        ssize_t done = recv(socket, at, bytes, 0);
        if (done <= 0)
            return 1;
        at += done;
        bytes -= (size_t)done;
    }
    return 0;
}

/* A byte each way; the transport moves on while the other's is not there. */
static int32_t barrier(void *context, ws_progress progress, void *argument)
{
    struct rank *rank = context;
    char mark = 0;
    if (write_all(rank->socket, &mark, 1) != 0)
        return 1;
    struct pollfd other = {.fd = rank->socket, .events = POLLIN};
    while (poll(&other, 1, 1) == 0)
        progress(argument);
    return read_all(rank->socket, &mark, 1);
}

static int32_t exchange(void *context, const void *blob, size_t blob_bytes, void *blobs, size_t stride_bytes,
                        size_t *sizes)
{
    struct rank *rank = context;
    uint32_t other = 1 - rank->number;
    unsigned char *theirs = (unsigned char *)blobs + other * stride_bytes;
    memcpy((unsigned char *)blobs + rank->number * stride_bytes, blob, blob_bytes);
    sizes[rank->number] = blob_bytes;
    /* A blob fits into the socket, so that both may write first. */
    if (write_all(rank->socket, &blob_bytes, sizeof blob_bytes) != 0 ||
        write_all(rank->socket, blob, blob_bytes) != 0 ||
        read_all(rank->socket, &sizes[other], sizeof sizes[other]) != 0 || sizes[other] > stride_bytes)
        return 1;
    return read_all(rank->socket, theirs, sizes[other]);
}

static ws_status run(struct rank *rank, int argc, char **argv)
{
    const char *words[][2] = {{"via", argc > 1 ? argv[1] : "shm"},
                              {"test", argc > 2 ? argv[2] : "am_lat"},
                              {"size", argc > 3 ? argv[3] : "8"},
                              {"duration", argc > 4 ? argv[4] : "300ms"},
                              {"check", "true"}};
    ws_case *parameters = ws_case_new();
    ws_error error;
    ws_status status = WS_OK;
    for (size_t i = 0; i < sizeof words / sizeof *words && status == WS_OK; i++)
        status = ws_case_set(parameters, words[i][0], words[i][1], &error);

    ws_result *result = NULL;
    ws_rte rte = {rank, rank->number, RANKS, WS_PROCESSES, barrier, exchange, NULL};
    if (status == WS_OK)
        status = ws_measure(parameters, &rte, NULL, NULL, NULL, &result, &error);
    ws_summary summary;
    if (status != WS_OK)
        fprintf(stderr, "rank %u: %s\n%s\n", rank->number, error.cause, error.remedy);
    else if (rank->number == 0 && ws_result_summary(result, &summary) == 0)
        printf("%llu operations, typical %.1f ns, %.0f a second\n", (unsigned long long)summary.sent_messages,
               summary.typical_ns, summary.rate_msg_per_s);
    ws_result_free(result);
    ws_case_free(parameters);
    return status;
}

int main(int argc, char **argv)
{
    int sockets[RANKS];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        return 1;
    /* Before anything of wirespeed is called: what transports open stays with the process that opened it. */
    pid_t child = fork();
    if (child < 0)
        return 1;
    struct rank rank = {child == 0, sockets[child == 0]};
    close(sockets[child != 0]);
    ws_status status = run(&rank, argc, argv);
    close(rank.socket);
    int ended;
    if (child > 0 && (waitpid(child, &ended, 0) != child || !WIFEXITED(ended)))
        return 1;
    return child > 0 && status == WS_OK ? WEXITSTATUS(ended) : (int)status;
}
