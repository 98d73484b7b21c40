# Reference values for Ward clustering (stats::hclust, "ward.D2") and varimax rotation (stats::varimax).
# Rscript oracles/hclust.R fixtures/r        writes hclust.json and varimax.json; needs jsonlite.
library(jsonlite)

arguments <- commandArgs(trailingOnly = TRUE)
out <- if (length(arguments) > 0) arguments[1] else "fixtures/r"
seed <- 20160512
set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")

provenance <- list(
  tool = R.version.string,
  command = "Rscript oracles/hclust.R fixtures/r",
  seed = seed,
  tolerance = 1e-6
)

write <- function(name, note, cases) {
  text <- toJSON(c(provenance, list(note = note, cases = cases)), auto_unbox = TRUE, digits = NA, matrix = "rowmajor")
  writeLines(text, file.path(out, name))
}

# Ten decimals: no ties, and the same doubles after reading the file.
points <- function(x) round(x, 10)

cloud <- function(n, q) points(matrix(rnorm(n * q), n, q))

blobs <- function(n, q, k, apart) {
  centres <- matrix(rnorm(k * q, sd = apart), k, q)
  points(centres[sample(k, n, replace = TRUE), , drop = FALSE] + matrix(rnorm(n * q), n, q))
}

with_outliers <- function(x, count) {
  rows <- sample(nrow(x), count)
  x[rows, ] <- x[rows, ] + 30 * matrix(rnorm(count * ncol(x)), count, ncol(x))
  points(x)
}

hclust_case <- function(name, x) {
  tree <- hclust(dist(x), method = "ward.D2")
  ks <- 2:min(8, nrow(x))
  list(
    name = name, points = x, merge = tree$merge, height = I(tree$height), order = I(tree$order),
    cuts = lapply(ks, function(k) list(k = k, labels = I(cutree(tree, k))))
  )
}

write("hclust.json", "hclust(dist(points), 'ward.D2'); merge, order and labels in R's own numbering, from 1", list(
  hclust_case("2 points", cloud(2, 2)),
  hclust_case("a dozen on a line", cloud(12, 1)),
  hclust_case("one cloud in the plane", cloud(60, 2)),
  hclust_case("five blobs in the plane", blobs(200, 2, 5, 4)),
  hclust_case("blobs far from the origin", points(blobs(40, 2, 3, 3) + 5000)),
  hclust_case("three blobs with outliers", with_outliers(blobs(120, 2, 3, 4), 5)),
  hclust_case("cloud on a line with outliers", with_outliers(cloud(80, 1), 4)),
  hclust_case("blobs in three dimensions", blobs(100, 3, 4, 3)),
  hclust_case("axes of very different scale", points(cloud(70, 3) %*% diag(c(100, 1, 0.01)))),
  hclust_case("six dimensions with outliers", with_outliers(blobs(50, 6, 6, 2), 2))
))

varimax_case <- function(name, x, normalize, eps) {
  fit <- varimax(x, normalize = normalize, eps = eps)
  list(name = name, loadings = x, normalize = normalize, eps = eps, rotated = unclass(fit$loadings),
       rotmat = fit$rotmat)
}

structure_of <- function(d, q) {
  x <- matrix(0, d, q)
  x[cbind(seq_len(d), (seq_len(d) - 1) %% q + 1)] <- runif(d, 0.5, 2)
  turn <- qr.Q(qr(matrix(rnorm(q * q), q, q)))
  points((x + 0.1 * matrix(rnorm(d * q), d, q)) %*% turn)
}

write("varimax.json", "varimax(loadings, normalize, eps): rotated = loadings %*% rotmat", list(
  varimax_case("simple structure", structure_of(7, 2), TRUE, 1e-5),
  varimax_case("simple structure, converged", structure_of(7, 2), TRUE, 1e-14),
  varimax_case("not normalised", structure_of(9, 3), FALSE, 1e-14),
  varimax_case("three factors", structure_of(12, 3), TRUE, 1e-14),
  varimax_case("no structure", cloud(6, 2), TRUE, 1e-14),
  varimax_case("no structure, not normalised", cloud(20, 4), FALSE, 1e-14),
  varimax_case("five factors", structure_of(20, 5), TRUE, 1e-14)
))
