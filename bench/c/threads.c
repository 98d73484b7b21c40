/*
 * How much two threads gain here over one, for arithmetic that shares nothing: what a machine can give at all.
 *
 * Build: cc -O3 -march=native threads.c -o threads -lm -lpthread
 * Reads lines "run MILLISECONDS REPEATS" on standard input: work of about that length on one thread, then twice the
 * work on two; answers with the least wall-clock milliseconds of each and the speed-up 2 * one / two.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static double wall_milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* `rounds` points of the logistic map: every step waits for the one before, so that nothing but time is shared. */
static void *work(void *rounds) {
  volatile double last;
  double x = 0.3;
  for (long k = *(long *)rounds; k > 0; k--) x = 3.9 * x * (1 - x);
  last = x;
  (void)last;
  return NULL;
}

int main(void) {
  double milliseconds;
  int repeats;
  long rounds = 1000000;
  double began, million = INFINITY;
  for (int k = 0; k < 5; k++) {
    began = wall_milliseconds();
    work(&rounds);
    double taken = wall_milliseconds() - began;
    if (taken < million) million = taken;
  }
  while (scanf(" run %lf %d", &milliseconds, &repeats) == 2) {
    rounds = (long)(1e6 * milliseconds / million);
    double one = INFINITY, two = INFINITY;
    for (int r = 0; r < repeats; r++) {
      pthread_t a, b;
      began = wall_milliseconds();
      pthread_create(&a, NULL, work, &rounds);
      pthread_join(a, NULL);
      double middle = wall_milliseconds();
      pthread_create(&a, NULL, work, &rounds);
      pthread_create(&b, NULL, work, &rounds);
      pthread_join(a, NULL);
      pthread_join(b, NULL);
      double end = wall_milliseconds();
      if (middle - began < one) one = middle - began;
      if (end - middle < two) two = end - middle;
    }
    printf("%.4f %.4f %.4f\n", one, two, 2 * one / two);
    fflush(stdout);
  }
  return 0;
}
