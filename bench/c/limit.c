/*
 * The local objective of the published map in C, the limit that our kernels are held to (docs/math/local-step.md):
 *   J(m, T) = |I + S/l2|^-1/2 sum_j w1_j exp(-1/2 u'R1 u) + |I + 2S/l2|^-1/2 sum_n w2_n exp(-1/2 v'R2 v) - KL,
 *   S = TT',  R1 = (L + S)^-1,  R2 = 2(L + 2S)^-1,  L = diag(l2),  u = m - z_j,  v = m - zbar_n,
 * in the parameters (m_1, m_2, log T_11, log T_22, T_21).
 *   grid     zbar_n are the (2g-1)^2 midpoints of a g x g grid, exponentials by rows and columns; value and gradient
 *   hessian  the same with the exact Hessian
 *
 * Build: cc -O3 -march=native -ffast-math limit.c -o limit -lm    (glibc's vector exponential comes with -ffast-math)
 * Reads lines on standard input and answers each with one line:
 *   load FILE          doubles as written by bench/cases/local-problem.ts     -> ok
 *   run KERNEL COUNT   COUNT evaluations                                      -> nanoseconds of one, checksum
 *   value KERNEL I     the i-th place                                         -> value, gradient (5), Hessian (25)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INLINE static inline __attribute__((always_inline))
#define PAD(n) (((n) + 3) & ~3)
#define MOST 32 /* longest padded row of a grid */
#define ALIGNED __attribute__((aligned(32)))

/* Moments and derivative tensors of orders 0 to 4: 00; 10 01; 20 11 02; 30 21 12 03; 40 31 22 13 04. */
#define TENSOR 15

static struct {
  int g, num_places;
  double z0, h, l2[2];   /* first coordinate and spacing of the grid (both axes), squared length-scales */
  double *grid1, *grid2; /* weights on the grid and its midpoints, rows padded to a multiple of four */
  double *theta;         /* [num_places, 5] */
} problem;

static double cpu_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

typedef struct {
  double m[2], T11, T22, T21, S11, S12, S22;
} Place;

INLINE Place place_of(const double *theta) {
  Place x = {{theta[0], theta[1]}, exp(theta[2]), exp(theta[3]), theta[4], 0, 0, 0};
  x.S11 = x.T11 * x.T11;
  x.S12 = x.T11 * x.T21;
  x.S22 = x.T21 * x.T21 + x.T22 * x.T22;
  return x;
}

/* The bump exp(-1/2 u'Ru), R = [r s; s t], and the factor before it. */
typedef struct {
  double r, s, t, norm;
} Bump;

INLINE Bump bump_of(const Place *x, double spread) {
  double a = problem.l2[0], b = problem.l2[1];
  double A = a + spread * x->S11, B = b + spread * x->S22, C = spread * x->S12;
  double scale = 1 / (A * B - C * C);
  return (Bump){spread * B * scale, -spread * C * scale, spread * A * scale, sqrt(a * b * scale)};
}

/*
 * sum_n w_n e_n u^i v^j over the nodes (z0 + ah, z0 + bh) of a grid, i + j up to the given order. With u_a = u_0 - ah, v_b = v_0 - bh:
 *   exp(-1/2 (r u_a^2 + 2s u_a v_b + t v_b^2)) = row_a column_b ratio_b^a,
 *   row_a = exp(-1/2 r u_a^2 - s u_a v_0),  column_b = exp(-1/2 t v_b^2 + s u_0 h b),  ratio_b = exp(-s h^2 b).
 */
INLINE void grid_moments(const double *restrict w, int n, double h, const Place *x, Bump q, int order,
                         double *restrict M) {
  int width = PAD(n);
  double u0 = x->m[0] - problem.z0, v0 = x->m[1] - problem.z0;
  double row[MOST] ALIGNED, column[MOST] ALIGNED, ratio[MOST] ALIGNED, vs[MOST] ALIGNED;
  for (int b = 0; b < width; b++) {
    double u = u0 - b * h;
    vs[b] = v0 - b * h;
    row[b] = exp(-0.5 * q.r * u * u - q.s * u * v0);
  }
  for (int b = 0; b < width; b++) {
    double v = vs[b];
    column[b] = exp(-0.5 * q.t * v * v + q.s * u0 * h * b);
    ratio[b] = exp(-q.s * h * h * b);
  }
  for (int k = 0; k < TENSOR; k++) M[k] = 0;
  for (int a = 0; a < n; a++, w += width) {
    double t0 = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0;
    for (int b = 0; b < width; b++) {
      double v = vs[b], v2 = v * v, e = w[b] * column[b], e1 = e * v, e2 = e * v2;
      t0 += e, t1 += e1, t2 += e2;
      if (order == 4) t3 += e1 * v2, t4 += e2 * v2;
      column[b] *= ratio[b];
    }
    double u = u0 - a * h, u2 = u * u, f = row[a];
    t0 *= f, t1 *= f, t2 *= f, t3 *= f, t4 *= f;
    M[0] += t0, M[1] += u * t0, M[2] += t1, M[3] += u2 * t0, M[4] += u * t1, M[5] += t2;
    if (order < 4) continue;
    M[6] += u2 * u * t0, M[7] += u2 * t1, M[8] += u * t2, M[9] += t3;
    M[10] += u2 * u2 * t0, M[11] += u2 * u * t1, M[12] += u2 * t2, M[13] += u * t3, M[14] += t4;
  }
}

/* Two factors u, v of each moment replaced by two of y = R(u, v): y_1 y_1, y_1 y_2 or y_2 y_2. */
INLINE double two_factors(const double *restrict c, const double *restrict M) {
  return c[0] * M[0] + c[1] * M[1] + c[2] * M[2];
}

/* Moments in (u, v) become moments in y = R(u, v), all orders. */
INLINE void moments_of_y(const double *restrict M, Bump q, int order, double *restrict Y) {
  double r = q.r, s = q.s, t = q.t;
  double yy11[3] = {r * r, 2 * r * s, s * s}, yy12[3] = {r * s, r * t + s * s, s * t};
  double yy22[3] = {s * s, 2 * s * t, t * t};
  Y[0] = M[0];
  Y[1] = r * M[1] + s * M[2], Y[2] = s * M[1] + t * M[2];
  Y[3] = two_factors(yy11, M + 3), Y[4] = two_factors(yy12, M + 3), Y[5] = two_factors(yy22, M + 3);
  if (order < 4) return;
  const double *M3 = M + 6, *M4 = M + 10;
  double y1[3] = {r * M3[0] + s * M3[1], r * M3[1] + s * M3[2], r * M3[2] + s * M3[3]};
  double y2[3] = {s * M3[0] + t * M3[1], s * M3[1] + t * M3[2], s * M3[2] + t * M3[3]};
  Y[6] = two_factors(yy11, y1), Y[7] = two_factors(yy12, y1), Y[8] = two_factors(yy22, y1);
  Y[9] = two_factors(yy22, y2);
  double y11[3] = {two_factors(yy11, M4), two_factors(yy11, M4 + 1), two_factors(yy11, M4 + 2)};
  double y22[3] = {two_factors(yy22, M4), two_factors(yy22, M4 + 1), two_factors(yy22, M4 + 2)};
  Y[10] = two_factors(yy11, y11), Y[11] = two_factors(yy12, y11), Y[12] = two_factors(yy22, y11);
  Y[13] = two_factors(yy12, y22), Y[14] = two_factors(yy22, y22);
}

/* Adds the derivatives in m of norm * sum_n w_n exp(-1/2 u'Ru): Hermite polynomials of y = Ru with covariance R. */
INLINE void add_derivatives(const double *restrict M, Bump q, int order, double *restrict D) {
  double Y[TENSOR];
  moments_of_y(M, q, order, Y);
  for (int k = 0; k < (order == 4 ? TENSOR : 6); k++) Y[k] *= q.norm;
  double r = q.r, s = q.s, t = q.t;
  D[0] += Y[0];
  D[1] -= Y[1], D[2] -= Y[2];
  D[3] += Y[3] - r * Y[0], D[4] += Y[4] - s * Y[0], D[5] += Y[5] - t * Y[0];
  if (order < 4) return;
  D[6] -= Y[6] - 3 * r * Y[1];
  D[7] -= Y[7] - r * Y[2] - 2 * s * Y[1];
  D[8] -= Y[8] - t * Y[1] - 2 * s * Y[2];
  D[9] -= Y[9] - 3 * t * Y[2];
  D[10] += Y[10] - 6 * r * Y[3] + 3 * r * r * Y[0];
  D[11] += Y[11] - 3 * r * Y[4] - 3 * s * Y[3] + 3 * r * s * Y[0];
  D[12] += Y[12] - r * Y[5] - t * Y[3] - 4 * s * Y[4] + (r * t + 2 * s * s) * Y[0];
  D[13] += Y[13] - 3 * t * Y[4] - 3 * s * Y[5] + 3 * s * t * Y[0];
  D[14] += Y[14] - 6 * t * Y[5] + 3 * t * t * Y[0];
}

/*
 * Value, gradient and Hessian in theta. F obeys the heat equation, so derivatives in S are those in m: with dS_k the
 * change of (S_11, 2 S_12, S_22) by the k-th covariance parameter and E = D2 - I,
 *   gradient 1/2 E dS_k (+ 1 for logs),  cross 1/2 D3 dS_k,  Hessian 1/4 dS_k' D4 dS_l + 1/2 E d2S_kl.
 */
INLINE double finish(const double *theta, const Place *x, const double *restrict D, int order, double *restrict out) {
  double dS[3][3] = {{2 * x->S11, 2 * x->S12, 0}, {0, 0, 2 * x->T22 * x->T22}, {0, 2 * x->T11, 2 * x->T21}};
  double E[3] = {D[3] - 1, D[4], D[5] - 1};
  double kl = 0.5 * (x->S11 + x->S22 + x->m[0] * x->m[0] + x->m[1] * x->m[1] - 2) - theta[2] - theta[3];
  out[0] = D[0] - kl;
  out[1] = D[1] - x->m[0], out[2] = D[2] - x->m[1];
#pragma GCC unroll 3
  for (int k = 0; k < 3; k++)
    out[3 + k] = 0.5 * (E[0] * dS[k][0] + E[1] * dS[k][1] + E[2] * dS[k][2]) + (k < 2 ? 1 : 0);
  if (order < 4) return out[0];
  double *H = out + 6;
  double second[3][3] = {{0.5 * (E[0] * 4 * x->S11 + E[1] * 2 * x->S12), 0, E[1] * x->T11},
                         {0, 2 * E[2] * x->T22 * x->T22, 0},
                         {E[1] * x->T11, 0, E[2]}};
  H[0] = E[0], H[1] = H[5] = E[1], H[6] = E[2];
#pragma GCC unroll 3
  for (int k = 0; k < 3; k++) {
    const double *d = dS[k];
    for (int c = 0; c < 2; c++)
      H[5 * c + 2 + k] = H[5 * (2 + k) + c] = 0.5 * (D[6 + c] * d[0] + D[7 + c] * d[1] + D[8 + c] * d[2]);
    double y[3];
    for (int i = 0; i < 3; i++) y[i] = D[10 + i] * d[0] + D[11 + i] * d[1] + D[12 + i] * d[2];
#pragma GCC unroll 3
    for (int l = k; l < 3; l++)
      H[5 * (2 + l) + 2 + k] = H[5 * (2 + k) + 2 + l] =
          0.25 * (y[0] * dS[l][0] + y[1] * dS[l][1] + y[2] * dS[l][2]) + second[l][k];
  }
  return out[0];
}

INLINE double by_grid(int i, double *out, int g, int order) {
  const double *theta = problem.theta + 5 * i;
  Place x = place_of(theta);
  Bump one = bump_of(&x, 1), two = bump_of(&x, 2);
  double M[TENSOR], D[TENSOR] = {0};
  grid_moments(problem.grid1, g, problem.h, &x, one, order, M);
  add_derivatives(M, one, order, D);
  grid_moments(problem.grid2, 2 * g - 1, 0.5 * problem.h, &x, two, order, M);
  add_derivatives(M, two, order, D);
  return finish(theta, &x, D, order, out);
}

/* Sizes known to the compiler for the usual grids. */
#define GRID_KERNEL(name, g, order) \
  static __attribute__((noinline)) double name(int i, double *out) { return by_grid(i, out, g, order); }
GRID_KERNEL(grid5, 5, 2)
GRID_KERNEL(grid7, 7, 2)
GRID_KERNEL(grid_any, problem.g, 2)
GRID_KERNEL(hessian5, 5, 4)
GRID_KERNEL(hessian7, 7, 4)
GRID_KERNEL(hessian_any, problem.g, 4)

typedef double (*Kernel)(int, double *);

static Kernel kernel_named(const char *name) {
  int g = problem.g;
  if (!strcmp(name, "grid")) return g == 5 ? grid5 : g == 7 ? grid7 : grid_any;
  if (!strcmp(name, "hessian")) return g == 5 ? hessian5 : g == 7 ? hessian7 : hessian_any;
  fprintf(stderr, "limit: expected kernel grid or hessian, received %s\n", name);
  exit(2);
}

static double *read_doubles(FILE *file, int count) {
  double *a = aligned_alloc(64, (((size_t)count * 8 + 63) / 64) * 64 + 64);
  if (a == NULL || fread(a, 8, count, file) != (size_t)count) exit(3);
  return a;
}

/* n x n weights as rows of a multiple of four, the rest zero. */
static double *padded(const double *w, int n) {
  double *a = aligned_alloc(64, ((size_t)n * PAD(n) * 8 / 64 + 1) * 64);
  memset(a, 0, (size_t)n * PAD(n) * 8);
  for (int k = 0; k < n; k++) memcpy(a + k * PAD(n), w + k * n, n * sizeof(double));
  return a;
}

static void load(const char *name) {
  FILE *file = fopen(name, "rb");
  if (file == NULL) exit(3);
  double *head = read_doubles(file, 6);
  problem.g = (int)head[0], problem.num_places = (int)head[1], problem.z0 = head[2], problem.h = head[3];
  problem.l2[0] = head[4], problem.l2[1] = head[5];
  int fine = 2 * problem.g - 1;
  if (PAD(fine) > MOST) exit(3);
  problem.grid1 = padded(read_doubles(file, problem.g * problem.g), problem.g);
  problem.grid2 = padded(read_doubles(file, fine * fine), fine);
  problem.theta = read_doubles(file, 5 * problem.num_places);
  fclose(file);
}

int main(void) {
  char line[4096], name[1024];
  int count;
  while (fgets(line, sizeof line, stdin)) {
    double out[31] = {0};
    if (sscanf(line, "load %1023s", name) == 1) {
      load(name);
      printf("ok\n");
    } else if (sscanf(line, "run %1023s %d", name, &count) == 2) {
      Kernel kernel = kernel_named(name);
      double sum = 0, begin = cpu_nanoseconds();
      for (int e = 0, i = 0; e < count; e++) {
        sum += kernel(i, out) + out[1] + out[5];
        if (++i == problem.num_places) i = 0;
      }
      printf("%.3f %.12g\n", (cpu_nanoseconds() - begin) / count, sum / count);
    } else if (sscanf(line, "value %1023s %d", name, &count) == 2) {
      kernel_named(name)(count, out);
      for (int k = 0; k < 31; k++) printf("%.17g%c", out[k], k < 30 ? ' ' : '\n');
    }
    fflush(stdout);
  }
  return 0;
}
