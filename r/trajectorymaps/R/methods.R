# What an object says of itself.

print.dtm <- function(x, ...) {
  run <- x$run
  markers <- if (is.null(run$markers)) run$marker$name else paste(run$markers$name, collapse = ", ")
  cat(sprintf("Disease trajectory map (%s) of %s: %d individuals, %d observations\n",
              run$model, markers, run$individuals, run$observations))
  cat(strwrap(verdict_of(x), exdent = 2), sep = "\n")
  cat("Run in ", x$folder, "\n", sep = "")
  invisible(x)
}

verdict_of <- function(x) if (is.null(x$run$map)) x$run$verdict else x$run$map$headline

summary.dtm <- function(object, ...) {
  object$run <- jsonlite::read_json(file.path(object$folder, "run.json"), simplifyVector = TRUE)
  structure(list(run = object$run, verdict = verdict_of(object), lights = object$run$map$lights, noise = noise_table(object),
                 map = map_table(object), fits = fit_table(object), covariates = object$covariates),
            class = "summary.dtm")
}

print.summary.dtm <- function(x, digits = max(3, getOption("digits") - 3), ...) {
  cat(sprintf("%d individuals, %d observations, model %s\n\n", x$run$individuals, x$run$observations, x$run$model))
  cat(strwrap(paste("Verdict:", x$verdict), exdent = 2), sep = "\n")
  for (k in seq_len(NROW(x$lights))) {
    light <- x$lights[k, ]
    cat(strwrap(sprintf("%s (%s): %s", light$name, light$state, light$sentence), indent = 2, exdent = 4), sep = "\n")
  }
  cat("\nNoise\n")
  print(x$noise, digits = digits, row.names = FALSE)
  if (!is.null(x$map)) {
    cat("\nMap: share of the variation between individuals that it carries, in-sample\n")
    print(x$map, digits = digits, row.names = FALSE)
  }
  cat("\nFits\n")
  print(x$fits, digits = digits, row.names = FALSE)
  for (part in c("shifts", "effects")) {
    if (is.null(x$covariates[[part]])) next
    cat(if (part == "shifts") "\nShifts of places by covariates\n" else "\nEffects of covariates in the mean\n")
    print(x$covariates[[part]], digits = digits, row.names = FALSE)
  }
  invisible(x)
}

each_marker <- function(object, f) {
  do.call(rbind, lapply(object$model$markers, function(part) {
    data.frame(marker = part$marker$name, f(part), stringsAsFactors = FALSE)
  }))
}

or_na <- function(x) if (is.null(x)) NA_real_ else x

noise_table <- function(object) {
  each_marker(object, function(part) {
    data.frame(kind = part$noise$kind, variance = or_na(part$noise$variance), spread = or_na(part$noise$spread))
  })
}

map_table <- function(object) {
  if (is.null(object$model$markers[[1]]$varianceShare)) return(NULL)
  each_marker(object, function(part) {
    data.frame(map_share = part$varianceShare, lengthscale = part$map$kernel$lengthscales[1],
               residual = part$residual$kind, tau = or_na(part$residual$tau))
  })
}

# The model and the linear models beside it. The bound of a map is not a likelihood and is named apart.
fit_table <- function(object) {
  row <- function(model) {
    data.frame(model = model$kind, settled = model$record$converged, iterations = model$record$iterations,
               bound = or_na(model$bound), stringsAsFactors = FALSE)
  }
  beside <- lapply(c("lmm", "fpca"), function(kind) {
    file <- file.path(object$folder, "baselines", paste0(kind, ".json"))
    if (!file.exists(file) || kind == object$model$kind) return(NULL)
    row(jsonlite::read_json(file, simplifyVector = TRUE, simplifyDataFrame = FALSE)$model)
  })
  do.call(rbind, c(list(row(object$model)), beside))
}

coef.dtm <- function(object, ...) {
  of <- function(pick) {
    values <- lapply(object$model$markers, pick)
    if (length(values) == 1) return(values[[1]])
    stats::setNames(values, vapply(object$model$markers, function(part) part$marker$name, ""))
  }
  list(mean = of(function(part) part$mean$coefficients), noise = of(function(part) part$noise),
       residual = of(function(part) part$residual), kernel = of(function(part) part$map$kernel),
       shifts = object$covariates$shifts, effects = object$covariates$effects)
}

nobs.dtm <- function(object, ...) object$run$observations

formula.dtm <- function(x, ...) x$formula

ranef <- function(object, ...) UseMethod("ranef")

ranef.dtm <- function(object, ...) {
  places <- read_csv(file.path(object$folder, "placements.csv"))
  places$id <- own_ids(object, places$id)
  places
}

logLik.dtm <- function(object, ...) {
  file <- file.path(object$folder, "compare.json")
  if (!file.exists(file)) {
    stop("logLik: the bound of a map is not a likelihood, and nothing has been held out yet. ",
         "Run compare(object) first; logLik then gives the held-out log-likelihood.", call. = FALSE)
  }
  compared <- jsonlite::read_json(file, simplifyVector = TRUE)
  row <- compared$models[compared$models$model == object$run$model, ]
  if (nrow(row) != 1) {
    stop(sprintf("logLik: compare.json holds %s but not %s. Run compare(object, models = \"lmm,%s\").",
                 paste(compared$models$model, collapse = ", "), object$run$model, object$run$model), call. = FALSE)
  }
  mean <- if (is.null(row$perIndividual)) row$subjectLogLik$mean else row$perIndividual
  structure(mean * object$run$individuals, per_individual = mean, se = row$subjectLogLik$se, folds = compared$folds,
            nobs = nobs(object), df = NA_integer_, class = c("dtm_heldout", "logLik"))
}

print.dtm_heldout <- function(x, digits = getOption("digits"), ...) {
  cat(sprintf("'held-out log Lik.' %s (%s per individual; %d-fold cross-validation)\n", format(c(x), digits = digits),
              format(attr(x, "per_individual"), digits = digits), attr(x, "folds")))
  invisible(x)
}
