# Maximum likelihood of the linear mixed model of two markers by nlme: one stacked design with an intercept and a slope of each marker
# (pdSymm: full covariance) and a noise of each marker (varIdent). Some individuals lack the second marker. One case has a covariate with
# effects on level and slope; they are given in the middle of each marker's times, and per half of their range, with standard errors.
# Rscript oracles/nlme.R fixtures/r        writes two_markers.json; needs nlme and jsonlite.
suppressMessages({library(nlme); library(jsonlite)})
arguments <- commandArgs(TRUE)
out <- if (length(arguments) > 0) arguments[1] else "fixtures/r"
seed <- 12
set.seed(seed)

z <- round(rnorm(60), 3)
rows <- do.call(rbind, lapply(1:60, function(i) {
  level <- rnorm(2) + 0.5 * z[i]; slope <- rnorm(2)
  one <- 3 + level[1] + (0.2 + 0.15 * slope[1]) * (t <- round(runif(2 + rpois(1, 3), 0, 10), 3)) + 0.5 * rnorm(length(t))
  first <- data.frame(id = i, marker = 1, time = t, value = round(one, 3))
  if (i %% 4 == 0) return(first)
  shared <- 40 + 6 * (0.7 * level[1] + 0.7 * level[2])
  t <- round(runif(1 + rpois(1, 4), 1, 8), 3)
  two <- shared - (1 + 0.8 * (0.6 * slope[1] + 0.8 * slope[2])) * t + 3 * rnorm(length(t))
  rbind(first, data.frame(id = i, marker = 2, time = t, value = round(two, 2)))
}))
d <- rows; d$z <- z[d$id]
d$a1 <- as.numeric(d$marker == 1); d$b1 <- d$a1 * d$time / 10
d$a2 <- as.numeric(d$marker == 2); d$b2 <- d$a2 * d$time / 10
d$id <- factor(d$id); d$marker <- factor(d$marker)

fit <- function(fixed) {
  # An optimiser that steps where a covariance overflows gives up; the best of the others counts.
  each <- sapply(c("nlminb", "optim"), function(optimizer) tryCatch({
    control <- lmeControl(opt = optimizer, maxIter = 500, msMaxIter = 1000, msMaxEval = 5000, niterEM = 50, tolerance = 1e-10)
    model <- lme(fixed, random = list(id = pdSymm(~ 0 + a1 + b1 + a2 + b2)), weights = varIdent(form = ~ 1 | marker), data = d,
      method = "ML", control = control)
    model
  }, error = function(e) NULL), simplify = FALSE)
  each <- Filter(Negate(is.null), each)
  values <- sapply(each, function(model) as.numeric(logLik(model)))
  list(logLik = max(values), optimizers = as.list(values), model = each[[which.max(values)]])
}
told <- function(mean, fit, ...) c(list(mean = mean, logLik = fit$logLik, optimizers = fit$optimizers), ...)
adjusted <- fit(value ~ 0 + a1 + b1 + a2 + b2 + z:a1 + z:b1 + z:a2 + z:b2)
C <- sapply(1:2, function(k) range(rows$time[rows$marker == k]))
turn <- function(k) rbind(c(1, mean(C[, k]) / 10), c(0, diff(C[, k]) / 20)) # of (level, slope per 10)
effects <- lapply(1:2, function(k) {
  names <- sapply(c("a", "b"), function(l) grep(paste0("(^z:|:z$)"), grep(paste0(l, k), names(fixef(adjusted$model)), value = TRUE), value = TRUE))
  list(coefficients = as.numeric(turn(k) %*% fixef(adjusted$model)[names]),
    standard_errors = sqrt(diag(turn(k) %*% vcov(adjusted$model)[names, names] %*% t(turn(k)))))
})
cases <- list(
  told("scalar", fit(value ~ 0 + a1 + a2)),
  told("spline", fit(value ~ 0 + a1 + b1 + a2 + b2)),
  told("spline", adjusted, list(effects = effects)))
for (case in cases) cat(sprintf("%-7s %.8f  %s\n", case$mean, case$logLik, paste(sprintf("%.8f", unlist(case$optimizers)), collapse = " ")))
write(toJSON(list(
  tool = paste("nlme", packageVersion("nlme"), "on", R.version.string), command = "Rscript oracles/nlme.R fixtures/r", seed = seed,
  tolerance = 1e-6, note = "logLik: of ours it may lie above, by the tolerance times its magnitude at most below",
  visits = as.list(rows), covariate = z, cases = cases), auto_unbox = TRUE, digits = NA), file.path(out, "two_markers.json"))
