# Maximum likelihood of the linear mixed model by lme4, to compare with ours: the best of two optimisers for each case.
# usage: Rscript oracles/lme4.R examples/pbc/visits.csv oracles/lme4.json      (packages lme4, splines, jsonlite)
# Cases: log bilirubin and albumin of the PBC cohort (read from the first file), and a simulated cohort (seed 20).
suppressMessages({library(splines); library(lme4); library(jsonlite)})
args <- commandArgs(TRUE)
seed <- 20

simulated <- function() {
  set.seed(seed)
  rows <- lapply(1:150, function(i) {
    n <- 1 + rpois(1, 4)
    t <- round(runif(n, 0, 10), 3)
    x <- rnorm(2)
    data.frame(id = i, time = t, value = round(80 + 8 * x[1] - 5 * x[2] * t / 10 + 3 * x[1] * sin(t / 3) + 3 * rnorm(n), 2))
  })
  do.call(rbind, rows)
}

fit <- function(d, mean) {
  knots <- quantile(d$time, c(1 / 3, 2 / 3))
  B <- bs(d$time, knots = knots, degree = 2, Boundary.knots = range(d$time), intercept = TRUE)
  B <- as.data.frame(unclass(B)[, 1:5]); names(B) <- paste0("b", 1:5)
  d <- cbind(d, B); d$id <- factor(d$id)
  fixed <- if (mean == "scalar") "1" else "0 + b1 + b2 + b3 + b4 + b5"
  formula <- as.formula(paste("value ~", fixed, "+ (0 + b1 + b2 + b3 + b4 + b5 | id)"))
  each <- sapply(c("nloptwrap", "bobyqa"), function(optimizer) {
    control <- lmerControl(optimizer = optimizer, check.nobs.vs.nRE = "ignore", calc.derivs = FALSE)
    as.numeric(logLik(suppressMessages(suppressWarnings(lmer(formula, d, REML = FALSE, control = control)))))
  })
  list(logLik = max(each), optimizers = as.list(each))
}

visits <- read.csv(args[1])
pbc <- function(column) {
  d <- data.frame(id = visits$id, time = visits$time, value = visits[[column]])
  d[!is.na(d$value), ]
}
data <- list(log_bili = pbc("log_bili"), albumin = pbc("albumin"), simulated = simulated())
cases <- list()
for (name in names(data)) for (mean in c("scalar", "spline")) {
  result <- fit(data[[name]], mean)
  cases[[length(cases) + 1]] <- c(list(name = name, mean = mean), result)
  cat(sprintf("%-10s %-7s %.6f  %s\n", name, mean, result$logLik, paste(sprintf("%.6f", unlist(result$optimizers)), collapse = " ")))
}
out <- list(
  tool = paste("lme4", packageVersion("lme4"), "on", R.version.string),
  command = "Rscript oracles/lme4.R examples/pbc/visits.csv oracles/lme4.json", seed = seed,
  simulated = as.list(data$simulated), cases = cases)
write(toJSON(out, auto_unbox = TRUE, digits = NA), args[2])
