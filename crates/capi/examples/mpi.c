/* The ranks of an MPI job meet through a communicator and measure a transport of wirespeed's or of UCX between them.
 *
 *     mpicc mpi.c $(pkg-config --cflags --libs wirespeed) -o mpi
 *     mpirun -n 2 ./mpi [TRANSPORT [TEST [SIZE [TIME]]]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wirespeed.h>

/* MPI waits inside its calls; a request lets the transport move on meanwhile. */
static int32_t barrier(void *context, ws_progress progress, void *argument)
{
    MPI_Request request;
    if (MPI_Ibarrier(*(MPI_Comm *)context, &request) != MPI_SUCCESS)
        return 1;
    for (int done = 0; !done;) {
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return 1;
        progress(argument);
    }
    return 0;
}

static int32_t exchange(void *context, const void *blob, size_t blob_bytes, void *blobs, size_t stride_bytes,
                        size_t *sizes)
{
    MPI_Comm communicator = *(MPI_Comm *)context;
    int size;
    MPI_Comm_size(communicator, &size);
    int *counts = malloc(2 * (size_t)size * sizeof *counts), mine = (int)blob_bytes;
    if (counts == NULL)
        return 1;
    int *places = counts + size;
    int code = MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, communicator);
    for (int i = 0; i < size; i++) {
        places[i] = (int)(i * stride_bytes);
        sizes[i] = (size_t)counts[i];
    }
    if (code == MPI_SUCCESS)
        code = MPI_Allgatherv(blob, mine, MPI_BYTE, blobs, counts, places, MPI_BYTE, communicator);
    free(counts);
    return code == MPI_SUCCESS ? 0 : 1;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm communicator;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    int rank, size;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &size);

    const char *words[][2] = {{"via", argc > 1 ? argv[1] : "shm"},
                              {"test", argc > 2 ? argv[2] : "am_lat"},
                              {"size", argc > 3 ? argv[3] : "8"},
                              {"duration", argc > 4 ? argv[4] : "300ms"}};
    ws_case *parameters = ws_case_new();
    ws_error error;
    ws_status status = WS_OK;
    for (size_t i = 0; i < sizeof words / sizeof *words && status == WS_OK; i++)
        status = ws_case_set(parameters, words[i][0], words[i][1], &error);

    ws_result *result = NULL;
    ws_rte rte = {&communicator, (uint32_t)rank, (uint32_t)size, WS_PROCESSES, barrier, exchange, NULL};
    if (status == WS_OK)
        status = ws_measure(parameters, &rte, NULL, NULL, NULL, &result, &error);
    ws_summary summary;
    if (status != WS_OK)
        fprintf(stderr, "rank %d: %s\n%s\n", rank, error.cause, error.remedy);
    else if (rank == 0 && ws_result_summary(result, &summary) == 0)
        printf("%llu operations, typical %.1f ns, %.0f a second\n", (unsigned long long)summary.sent_messages,
               summary.typical_ns, summary.rate_msg_per_s);
    ws_result_free(result);
    ws_case_free(parameters);
    MPI_Comm_free(&communicator);
    MPI_Finalize();
    return status;
}
