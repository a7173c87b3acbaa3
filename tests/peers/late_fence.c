/* Preloaded into a rank under a PMIx server: in rank LATE_RANK the end of every PMIx_Fence_nb is told late, so that the
 * rank stays in it while the others go on. It shows whether a launcher's fence without data holds them back. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { LATE_US = 500000 };

typedef void (*told_fn)(int status, void *what);
typedef int (*fence_fn)(const void *procs, size_t procs_count, const void *infos, size_t infos_count, told_fn told,
                        void *what);

struct news {
    told_fn told;
    void *what;
    int status;
};

static void *tell(void *argument) {
    struct news *news = argument;
    usleep(LATE_US);
    news->told(news->status, news->what);
    free(news);
    return NULL;
}

/* The thread that calls this also serves questions of the MPI library: it must not sleep. */
static void keep(int status, void *argument) {
    struct news *news = argument;
    pthread_t thread;
    news->status = status;
    if (pthread_create(&thread, NULL, tell, news) == 0) {
        pthread_detach(thread);
    } else {
        tell(news);
    }
}

int PMIx_Fence_nb(const void *procs, size_t procs_count, const void *infos, size_t infos_count, told_fn told, void *what) {
    fence_fn fence = (fence_fn)dlsym(RTLD_NEXT, "PMIx_Fence_nb");
    const char *rank = getenv("PMIX_RANK");
    const char *late = getenv("LATE_RANK");
    struct news *news = NULL;
    if (told != NULL && rank != NULL && late != NULL && atoi(rank) == atoi(late)) {
        news = malloc(sizeof *news);
    }
    if (news == NULL) {
        return fence(procs, procs_count, infos, infos_count, told, what);
    }
    news->told = told;
    news->what = what;
    return fence(procs, procs_count, infos, infos_count, keep, news);
}
