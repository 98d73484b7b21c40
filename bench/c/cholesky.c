/*
 * Cholesky factor and inverse of a symmetric positive definite matrix by LAPACK (OpenBLAS), one thread.
 *
 * Build: cc -O3 -march=native cholesky.c -o cholesky -lm -lopenblas
 * Reads lines "run N REPEATS" on standard input and answers with nanoseconds of dpotrf and of dpotri, least of the
 * repeats each, and the trace of the inverse.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info);

static double cpu_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(void) {
  int n, repeats;
  while (scanf(" run %d %d", &n, &repeats) == 2) {
    size_t bytes = (size_t)n * n * sizeof(double);
    double *A = malloc(bytes), *B = malloc(bytes);
    /* The matrix of bench/cases/cholesky.ts. */
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) A[i * n + j] = exp(-(i - j) * (double)(i - j) / 18) + (i == j ? 0.5 : 0);
    double factor = INFINITY, inverse = INFINITY, trace = 0;
    for (int r = 0; r < repeats; r++) {
      int info;
      memcpy(B, A, bytes);
      double begin = cpu_nanoseconds();
      dpotrf_("L", &n, B, &n, &info);
      double middle = cpu_nanoseconds();
      dpotri_("L", &n, B, &n, &info);
      double end = cpu_nanoseconds();
      if (middle - begin < factor) factor = middle - begin;
      if (end - middle < inverse) inverse = end - middle;
      trace = 0;
      for (int i = 0; i < n; i++) trace += B[i * n + i];
    }
    printf("%.1f %.1f %.17g\n", factor, inverse, trace);
    fflush(stdout);
    free(A), free(B);
  }
  return 0;
}
