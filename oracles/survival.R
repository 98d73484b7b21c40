# Reference values for Kaplan-Meier curves, the log-rank test, Cox regression and concordance (package survival),
# on simulated follow-up.
# Rscript oracles/survival.R fixtures/r        writes survival.json; needs survival and jsonlite.
library(survival)
library(jsonlite)

arguments <- commandArgs(trailingOnly = TRUE)
out <- if (length(arguments) > 0) arguments[1] else "fixtures/r"
seed <- 20160513
set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")

# Follow-up with hazards exp(x b), uniform censoring, times rounded to `digits` decimals so that some are tied.
simulate <- function(n, beta, groups, digits, censoring) {
  p <- length(beta)
  x <- round(matrix(rnorm(n * p), n, p), 4)
  if (p > 1) x[, p] <- as.numeric(x[, p] > 0.3)
  risk <- as.vector(x %*% beta)
  event_time <- rexp(n, 0.2 * exp(risk))
  censor_time <- runif(n, 0, censoring)
  time <- pmax(round(pmin(event_time, censor_time), digits), 10^-digits)
  event <- as.numeric(event_time <= censor_time)
  # Groups follow the first covariate loosely, so that they differ in hazard.
  score <- x[, 1] + rnorm(n)
  group <- if (groups == 1) rep(1L, n) else as.integer(cut(rank(score), groups))
  list(time = time, event = event, group = group, x = x)
}

band <- function(time, event, type) {
  fit <- survfit(Surv(time, event) ~ 1, conf.type = type)
  middle <- quantile(fit, 0.5)
  list(lower = I(fit$lower), upper = I(fit$upper),
       median = I(unname(c(middle$quantile, middle$lower, middle$upper))))
}

kaplan_meier <- function(data, g) {
  time <- data$time[data$group == g]
  event <- data$event[data$group == g]
  fit <- survfit(Surv(time, event) ~ 1)
  list(
    group = g, time = I(fit$time), at_risk = I(fit$n.risk), events = I(fit$n.event), censored = I(fit$n.censor),
    survival = I(fit$surv), standard_error = I(fit$std.err * fit$surv),
    log_log = band(time, event, "log-log"), log = band(time, event, "log"), plain = band(time, event, "plain")
  )
}

log_rank <- function(data) {
  if (length(unique(data$group)) < 2) return(NULL)
  fit <- survdiff(Surv(time, event) ~ group, data = data[c("time", "event", "group")])
  df <- length(fit$n) - 1
  list(chisq = fit$chisq, df = df, p = pchisq(fit$chisq, df, lower.tail = FALSE),
       observed = I(fit$obs), expected = I(fit$exp), variance = fit$var)
}

cox <- function(data, columns, ties) {
  x <- data$x[, columns, drop = FALSE]
  control <- coxph.control(eps = 1e-11, iter.max = 100)
  fit <- coxph(Surv(data$time, data$event) ~ x, ties = ties, control = control)
  agreement <- concordance(fit)
  text <- summary(fit)
  list(
    columns = I(columns - 1), ties = ties, coefficients = I(unname(coef(fit))),
    covariance = unname(fit$var), log_likelihood = I(fit$loglik),
    likelihood_ratio = I(unname(text$logtest)), score = I(unname(text$sctest)),
    wald = I(c(fit$wald.test, length(columns), pchisq(fit$wald.test, length(columns), lower.tail = FALSE))),
    p = I(unname(text$coefficients[, 5])),
    concordance = agreement$concordance, concordance_se = sqrt(agreement$var),
    pairs = I(unname(agreement$count))
  )
}

case <- function(name, data, columns_sets) {
  groups <- sort(unique(data$group))
  list(
    name = name, time = I(data$time), event = I(data$event), group = I(data$group), x = data$x,
    kaplan_meier = lapply(groups, function(g) kaplan_meier(data, g)),
    log_rank = log_rank(data),
    cox = unlist(lapply(columns_sets, function(columns) lapply(c("efron", "breslow"), function(ties) {
      cox(data, columns, ties)
    })), recursive = FALSE)
  )
}

# Every second pair is tied in time; half the curve is level at exactly one half, where the median is a midpoint.
by_hand <- list(
  time = c(1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 6, 7), event = c(1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1),
  group = rep(1:2, 6), x = matrix(c(2, 1, 0, 3, 1, 1, 0, 2, -1, -1, 0, -2) / 2, 12, 1)
)
level <- list(
  time = c(1, 2, 3, 4, 1, 2, 2, 3), event = c(1, 1, 1, 1, 1, 0, 1, 0), group = rep(1:2, each = 4),
  x = matrix(c(0, 1, 0, 0, 1, 0, 1, 1), 8, 1)
)

cases <- list(
  case("twelve by hand, ties of events and censoring", by_hand, list(1)),
  case("level at one half; no censoring in one group", level, list(1)),
  case("two groups, few ties", simulate(80, c(0.8), 2, 3, 12), list(1)),
  case("three groups, many ties", simulate(150, c(0.7, -0.5), 3, 0, 10), list(1, 2, 1:2)),
  case("three covariates, many ties", simulate(200, c(0.6, -0.4, 0.9), 2, 1, 8), list(3, 1:2, 1:3)),
  case("four groups, heavy censoring, weak effects", simulate(120, c(0.1, 0.2), 4, 1, 2), list(1:2)),
  case("one group, strong effects", simulate(100, c(2, -1.5, 1), 1, 2, 30), list(1:3))
)

note <- paste(
  "survfit, survdiff, coxph (eps 1e-11) and concordance; log_likelihood is null and fitted; likelihood_ratio, score",
  "and wald are statistic, df, p; median is median, lower, upper; pairs are concordant, discordant, tied in risk, tied",
  "in time, tied in both; columns count from 0, groups from 1; null is R's NA"
)
text <- toJSON(list(
  tool = paste0(R.version.string, ", survival ", packageVersion("survival")),
  command = "Rscript oracles/survival.R fixtures/r", seed = seed, tolerance = 1e-6, note = note, cases = cases
), auto_unbox = TRUE, digits = NA, na = "null", null = "null", matrix = "rowmajor")
writeLines(text, file.path(out, "survival.json"))
