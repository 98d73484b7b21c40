# Tidy tables, for the generics of the package generics (which broom re-exports).

tidy.dtm <- function(x, ...) {
  rows <- do.call(rbind, lapply(x$model$markers, function(part) {
    kernel <- part$map$kernel
    values <- c(noise.variance = or_na(part$noise$variance), noise.spread = or_na(part$noise$spread),
                residual.tau = or_na(part$residual$tau), kernel.variance = or_na(kernel$signalVariance),
                kernel.lengthscale = or_na(kernel$lengthscales[1]),
                stats::setNames(part$mean$coefficients, paste0("mean.", seq_along(part$mean$coefficients))))
    data.frame(marker = part$marker$name, term = names(values), estimate = unname(values), conf.low = NA_real_,
               conf.high = NA_real_, stringsAsFactors = FALSE)
  }))
  effects <- x$covariates$effects
  if (!is.null(effects)) {
    term <- paste(effects$quantity, effects$covariate, ifelse(is.na(effects$level), "", effects$level), sep = ".")
    rows <- rbind(rows, data.frame(marker = effects$marker, term = sub("\\.$", "", term), estimate = effects$estimate,
                                   conf.low = effects$lower, conf.high = effects$upper))
  }
  rows[!is.na(rows$estimate), ]
}

glance.dtm <- function(x, ...) {
  heldout <- tryCatch(logLik(x), error = function(e) NULL)
  data.frame(model = x$run$model, individuals = x$run$individuals, nobs = nobs(x), converged = x$run$converged,
             iterations = x$run$iterations,
             map.share = mean(vapply(x$model$markers, function(part) or_na(part$varianceShare), 0)),
             heldout.logLik = if (is.null(heldout)) NA_real_ else as.numeric(heldout), stringsAsFactors = FALSE)
}

augment.dtm <- function(x, ...) {
  rows <- fitted_rows(x, ...)
  data <- x$data
  data$.fitted <- rows$mean
  data$.se.fit <- rows$sd
  data$.resid <- suppressWarnings(as.numeric(data[[x$columns$value]])) - rows$mean
  data
}
