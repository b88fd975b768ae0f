/*
 * Tests of engine.c: handshakes leave the thread that owns everything else.
 * Most is seen when it is built with -fsanitize=thread instead of address.
 */
#include "sessions.h"

#include <pthread.h>

#include "mem.h"

enum { THREADS = 4, EACH = 12 };

/* An engine that is stepped elsewhere, with a server of its own. */
struct job {
  struct etls_engine *engine;
  struct tls_peer *peer;
  enum etls_status status;
};

static void *run(void *arg) {
  struct job *jobs = arg;
  for (int i = 0; i < EACH; i++) {
    struct etls_error error;
    etls_error_init(&error);
    jobs[i].status = tls_connect(jobs[i].engine, jobs[i].peer, 100, &error);
  }
  return NULL;
}

static void handshakes_may_run_on_other_threads(void **state) {
  (void)state;
  EACH_VERSION(version) {
    struct duo duo = duo_new(version);
    struct etls_session_store *store = sessions_store_new();
    static struct job jobs[THREADS][EACH];
    pthread_t threads[THREADS];
    sessions_connect(&duo, store, "key");
    for (int i = 0; i < THREADS * EACH; i++) {
      struct job *job = &jobs[i / EACH][i % EACH];
      job->engine = etls_engine_new(duo.context, duo.pool, &duo.error);
      job->peer = tls_peer_new(duo.ctx);
      etls_engine_want_sessions(job->engine, true);
      assert_int_equal(etls_engine_use_store(job->engine, store, "key", 3, true,
                                             SESSIONS_NOW, &duo.error),
                       ETLS_OK);
    }
    for (int i = 0; i < THREADS; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, run, jobs[i]), 0);
    duo_again(&duo); /* this thread goes on with its own */
    tls_open(duo.engine, duo.peer);
    for (int i = 0; i < 50; i++)
      duo_talk(&duo);
    for (int i = 0; i < THREADS; i++)
      assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS * EACH; i++) {
      struct job *job = &jobs[i / EACH][i % EACH];
      assert_int_equal(job->status, ETLS_OK);
      tls_peer_step(job->peer, job->engine);
      etls_engine_accept_sessions(job->engine, SESSIONS_NOW);
      tls_drain(job->engine, job->peer);
      assert_int_equal(job->peer->error, 0);
      etls_engine_free(job->engine);
      tls_peer_free(job->peer);
    }
    struct etls_session_counters counters;
    etls_session_store_get_counters(store, &counters);
    assert_int_equal(counters.offered, counters.resumed);
    assert_int_equal(counters.offered, THREADS * EACH);
    duo_free(&duo);
    etls_session_store_free(store);
  }
}

int main(void) {
  support_init();
  etls_mem_set_hook(NULL); /* it counts, unsynchronised */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(handshakes_may_run_on_other_threads),
  };
  return cmocka_run_group_tests_name("engine_threads", tests, NULL, NULL);
}
