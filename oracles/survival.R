# Reference values for Kaplan-Meier curves, the log-rank test, Cox regression with its baseline hazard, concordance and the
# test of proportional hazards, and for Aalen-Johansen curves of competing events (package survival), on simulated follow-up.
# Rscript oracles/survival.R fixtures/r        writes survival.json; needs survival.
library(survival)

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
    pairs = I(unname(agreement$count)),
    base_hazard = basehaz(fit, centered = FALSE)$hazard,
    proportional = lapply(c("km", "identity"), function(transform) proportional(fit, transform)),
    residual_sums = with(cox.zph(fit, terms = FALSE), unname(rowsum(y, time)))
  )
}

# One entry per column, and the last for all of them.
proportional <- function(fit, transform) {
  test <- cox.zph(fit, transform = transform, terms = FALSE)
  list(transform = transform, chisq = I(unname(test$table[, "chisq"])), df = I(unname(test$table[, "df"])),
       p = I(unname(test$table[, "p"])))
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

# Competing events: cause 1, cause 2 or more, 0 for censored, with hazards that follow the group.
compete <- function(n, rates, groups, digits, censoring) {
  group <- sample(rep_len(seq_len(groups), n))
  total <- sum(rates) * (1 + 0.5 * (group - 1))
  event_time <- rexp(n, total)
  censor_time <- runif(n, 0, censoring)
  cause <- sample(seq_along(rates), n, replace = TRUE, prob = rates)
  list(time = pmax(round(pmin(event_time, censor_time), digits), 10^-digits),
       cause = ifelse(event_time <= censor_time, cause, 0L), group = group)
}

incidence <- function(data, g, causes) {
  state <- factor(data$cause, levels = 0:causes)
  fit <- function(type) survfit(Surv(time, state) ~ 1, data = data.frame(time = data$time, state = state),
                                subset = data$group == g, conf.type = type)
  curves <- fit("log-log")
  bounds <- function(type) list(lower = I(fit(type)$lower[, -1, drop = FALSE]), upper = I(fit(type)$upper[, -1, drop = FALSE]))
  list(group = g, time = I(curves$time), at_risk = I(curves$n.risk[, 1]), incidence = I(curves$pstate[, -1, drop = FALSE]),
       standard_error = I(curves$std.err[, -1, drop = FALSE]), survival = I(curves$pstate[, 1]),
       log_log = bounds("log-log"), log = bounds("log"), plain = bounds("plain"))
}

competing_case <- function(name, data) {
  causes <- max(data$cause)
  list(name = name, time = I(data$time), cause = I(data$cause), group = I(data$group), causes = causes,
       curves = lapply(sort(unique(data$group)), function(g) incidence(data, g, causes)))
}

few <- list(time = c(1, 1, 2, 2, 3, 4, 4, 5), cause = c(1, 2, 0, 1, 2, 1, 0, 2), group = rep(1, 8))
ended <- list(time = c(1, 2, 2, 3, 4), cause = c(2, 1, 2, 1, 1), group = rep(1, 5))
competing <- list(
  competing_case("eight by hand, two causes, ties", few),
  competing_case("nobody is censored", ended),
  competing_case("two groups, two causes, few ties", compete(90, c(0.15, 0.1), 2, 3, 10)),
  competing_case("three groups, three causes, many ties", compete(160, c(0.1, 0.1, 0.05), 3, 0, 12))
)

note <- paste(
  "survfit, survdiff, coxph (eps 1e-11) and concordance; log_likelihood is null and fitted; likelihood_ratio, score",
  "and wald are statistic, df, p; median is median, lower, upper; pairs are concordant, discordant, tied in risk, tied",
  "in time, tied in both; base_hazard is at all distinct times, for x = 0; proportional is cox.zph (terms = FALSE), the last",
  "entry global, residual_sums its scaled residuals summed over each time of events; curves of competing events are survfit of a factor,",
  "columns are causes 1, 2, ...; columns count from 0, groups from 1; null is R's NA"
)
# JSON with 15 digits: matrices by rows, vectors of one number as a number unless they are I().
to_json <- function(x) {
  scalar <- function(v) ifelse(is.na(v), "null", if (is.character(v)) paste0("\"", v, "\"") else sprintf("%.15g", v))
  array_of <- function(parts) paste0("[", paste(parts, collapse = ","), "]")
  if (is.null(x)) return("null")
  if (is.matrix(x)) return(array_of(apply(x, 1, function(row) array_of(scalar(row)))))
  if (is.list(x) && is.null(names(x))) return(array_of(vapply(x, to_json, "")))
  if (is.list(x)) {
    return(paste0("{", paste0("\"", names(x), "\":", vapply(x, to_json, ""), collapse = ","), "}"))
  }
  if (length(x) == 1 && !inherits(x, "AsIs")) return(scalar(x))
  array_of(scalar(unclass(x)))
}

text <- to_json(list(
  tool = paste0(R.version.string, ", survival ", packageVersion("survival")),
  command = "Rscript oracles/survival.R fixtures/r", seed = seed, tolerance = 1e-6, note = note, cases = cases,
  competing = competing
))
writeLines(text, file.path(out, "survival.json"))
