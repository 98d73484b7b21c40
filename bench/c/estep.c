/*
 * The expectation step of the recommended map in C, loop for loop as in packages/core/assembly/tiles.ts: log
 * weights of four individuals over all nodes, exponentials, moments, node sums. The limit that the kernels are held to.
 *
 * Build: gcc -O3 -march=native estep.c -o estep -lm
 * Reads lines "run NODES K REPEATS" on standard input (K a multiple of four) and answers with the nanoseconds per
 * individual, least of the repeats, and a checksum.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK 64
#define NEGLIGIBLE (-37.0)

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

/* R[t][b][4] = prior[t][4] + sum_k P[k][b] T[t][k][4], and the largest of each row. */
static void log_weights(const double *restrict P, const double *restrict T, const double *restrict prior,
                        double *restrict R, double *restrict maxima, int tiles, int K) {
  double m[4][4];
  for (int b = 0; b < 4; b++)
    for (int j = 0; j < 4; j++) m[b][j] = -INFINITY;
  for (int t = 0; t < tiles; t++, T += 4 * K, R += 16, prior += 4) {
    double a[4][4];
    for (int b = 0; b < 4; b++)
      for (int j = 0; j < 4; j++) a[b][j] = prior[j];
    for (int k = 0; k < K; k++)
      for (int b = 0; b < 4; b++)
        for (int j = 0; j < 4; j++) a[b][j] += P[4 * k + b] * T[4 * k + j];
    for (int b = 0; b < 4; b++)
      for (int j = 0; j < 4; j++) {
        R[4 * b + j] = a[b][j];
        m[b][j] = m[b][j] < a[b][j] ? a[b][j] : m[b][j];
      }
  }
  for (int b = 0; b < 4; b++) {
    maxima[b] = m[b][0];
    for (int j = 1; j < 4; j++)
      if (maxima[b] < m[b][j]) maxima[b] = m[b][j];
  }
}

/* R <- exp(R - maxima), sums of each row; the polynomial of packages/core/assembly/exp.ts. */
static void exp_tiles(double *restrict R, const double *restrict maxima, double *restrict sums, int tiles) {
  double s[4][4] = {{0}};
  for (int t = 0; t < tiles; t++, R += 16)
    for (int b = 0; b < 4; b++) {
      double e[4];
      for (int j = 0; j < 4; j++) {
        double x = R[4 * b + j] - maxima[b];
        double k = nearbyint(x * 1.4426950408889634);
        double r = x - k * 0.6931471803691238 - k * 1.9082149292705877e-10;
        double r2 = r * r, r4 = r2 * r2;
        double near = 0.5 + r * 0.1666666666664823 + r2 * (0.04166666666665131 + r * 0.00833333335377842);
        double far = 0.0013888888905922382 + r * 0.00019841208634639135 +
                     r2 * (2.480153630713628e-5 + r * 2.7625169883520667e-6) + r4 * 2.7613852100963253e-7;
        double v = 1 + (r + r2 * (near + r4 * far));
        double shifted = k + (6755399441055744.0 + 1023.0);
        uint64_t bits;
        memcpy(&bits, &shifted, 8);
        bits <<= 52;
        double power;
        memcpy(&power, &bits, 8);
        e[j] = x < NEGLIGIBLE ? 0 : v * power;
      }
      for (int j = 0; j < 4; j++) {
        R[4 * b + j] = e[j];
        s[b][j] += e[j];
      }
    }
  for (int b = 0; b < 4; b++) sums[b] = s[b][0] + s[b][1] + (s[b][2] + s[b][3]);
}

/* out[t][k][4] += sum_b P[k][b] R[t][b][4]. */
static void add_outer(const double *restrict P, const double *restrict R, double *restrict out, int tiles, int K) {
  for (int t = 0; t < tiles; t++, R += 16, out += 4 * K)
    for (int k = 0; k < K; k++)
      for (int b = 0; b < 4; b++)
        for (int j = 0; j < 4; j++) out[4 * k + j] += P[4 * k + b] * R[4 * b + j];
}

/* out[k][b] = sum over nodes of R[t][b] T[t][k]. */
static void dot_tiles(const double *restrict R, const double *restrict T, double *restrict out, int tiles, int K) {
  for (int k = 0; k < K; k += 2) {
    double s[8][4] = {{0}};
    for (int t = 0; t < tiles; t++) {
      const double *r = R + 16 * t, *x = T + 4 * (K * t + k);
      for (int b = 0; b < 4; b++)
        for (int j = 0; j < 4; j++) {
          s[b][j] += r[4 * b + j] * x[j];
          s[4 + b][j] += r[4 * b + j] * x[4 + j];
        }
    }
    for (int b = 0; b < 8; b++) out[4 * k + b] = s[b][0] + s[b][1] + (s[b][2] + s[b][3]);
  }
}

static double uniform(uint64_t *state) {
  *state = *state * 6364136223846793005ull + 1442695040888963407ull;
  return (double)(*state >> 11) / 9007199254740992.0;
}

int main(void) {
  int nodes, K, repeats;
  while (scanf(" run %d %d %d", &nodes, &K, &repeats) == 3) {
    int tiles = (nodes + 3) / 4;
    uint64_t seed = 1;
    double *T = aligned_alloc(64, sizeof(double) * 4 * K * tiles + 64), *sums = calloc(4 * K * tiles, sizeof(double));
    double *prior = malloc(sizeof(double) * 4 * tiles), *R = aligned_alloc(64, sizeof(double) * 16 * tiles + 64);
    double *P = malloc(sizeof(double) * K * BLOCK), *packed = malloc(sizeof(double) * K * BLOCK);
    double *moments = malloc(sizeof(double) * 4 * K);
    for (int e = 0; e < 4 * K * tiles; e++) T[e] = uniform(&seed) - 0.5;
    for (int e = 0; e < 4 * tiles; e++) prior[e] = e < nodes ? -8 * uniform(&seed) : -INFINITY;
    for (int e = 0; e < K * BLOCK; e++) packed[e] = 2 * uniform(&seed) - 1;
    double least = INFINITY, check = 0;
    for (int repeat = 0; repeat < repeats; repeat++) {
      double maxima[4], total[4];
      memcpy(P, packed, sizeof(double) * K * BLOCK);
      double begin = now();
      for (int i = 0; i < BLOCK; i += 4) {
        double *p = P + K * i;
        log_weights(p, T, prior, R, maxima, tiles, K);
        exp_tiles(R, maxima, total, tiles);
        dot_tiles(R, T, moments, tiles, K);
        for (int k = 0; k < K; k++)
          for (int b = 0; b < 4; b++) {
            moments[4 * k + b] /= total[b];
            p[4 * k + b] /= total[b];
          }
        add_outer(p, R, sums, tiles, K);
        check += maxima[0] + log(total[0]) + moments[5];
      }
      double taken = (now() - begin) / BLOCK;
      if (taken < least) least = taken;
    }
    printf("%.1f %.12g\n", least, check / repeats);
    fflush(stdout);
    free(T), free(sums), free(prior), free(R), free(P), free(packed), free(moments);
  }
  return 0;
}
