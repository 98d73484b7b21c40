# Forecasts, fitted values and new individuals, all by the command line.

predict.dtm <- function(object, newdata = NULL, at = NULL, interval = c("observation", "curve", "conformal"), level = 0.9,
                        threshold = NULL, subjects = NULL, seed = 1, ...) {
  if (is.null(at) == is.null(threshold)) {
    stop("predict: expected times (at = 0:10) or a value to cross (threshold = 10), one of them.", call. = FALSE)
  }
  if (is.null(newdata) && is.null(object$data)) {
    stop("predict: the run keeps no visits; give them as newdata.", call. = FALSE)
  }
  own <- is.null(newdata)
  if (own) newdata <- object$data
  if (is.null(subjects) && own) subjects <- object$subjects
  options <- list(at = at, threshold = threshold, level = if (is.null(threshold)) level,
                  interval = if (is.null(threshold)) match.arg(interval), subjects = NULL, seed = seed, ...)
  told <- with_visits(object, newdata, subjects, function(visits, columns) {
    run_dtm("predict", object$folder, visits, options = c(columns, options))
  }, counted = own && object$counted)
  rows <- if (is.null(threshold)) told$predictions else told$crossings
  ids <- unique(newdata[[object$columns$id]])
  found <- match(rows$id, cells(ids))
  if (!anyNA(found)) rows$id <- ids[found]
  rows
}

# Calls f with files of the visits and the covariates, and the options that name their columns. Visits that come from the folder of a run
# have counted times.
with_visits <- function(object, visits, subjects, f, counted = FALSE) {
  options <- object$columns
  columns <- unlist(options, use.names = FALSE)
  if (!is.null(options$marker_column)) {
    options$markers <- vapply(object$model$markers, function(part) part$marker$name, "")
  }
  if (is.null(options$value)) columns <- c(columns, intersect(marker_columns(object), names(visits)))
  columns <- union(columns, intersect(origin_column(object$model$markers[[1]]$columns$origin), names(visits)))
  covariates <- if (is.null(subjects)) intersect(names(visits), object_covariates(object))
  with_table(visits, union(columns, covariates), function(visits_file) {
    with_table(subjects, names(subjects), function(subjects_file) {
      f(visits_file, c(options, list(subjects = subjects_file, origin = if (counted) "none")))
    })
  })
}

marker_columns <- function(object) {
  vapply(object$model$markers, function(part) part$columns$value, "")
}

object_covariates <- function(object) setdiff(names(object$data), c(unlist(object$columns), marker_columns(object)))

fitted.dtm <- function(object, ...) fitted_rows(object, ...)$mean

# Expected values of everybody's own visits, in the order of the data; NA for rows that were not used.
fitted_rows <- function(object, ...) {
  if (length(object$model$markers) > 1) {
    stop("fitted: expected a map of one marker; of several use predict(object, at = \"visits\").", call. = FALSE)
  }
  told <- predict(object, at = "visits", interval = "curve", ...)
  key <- function(id, time) paste(cells(id), cells(as.numeric(time)), sep = "\r")
  rows <- match(key(object$data[[object$columns$id]], counted_times(object)), key(told$id, told$time))
  told[rows, ]
}

residuals.dtm <- function(object, ...) {
  suppressWarnings(as.numeric(object$data[[object$columns$value]])) - fitted(object, ...)
}

simulate.dtm <- function(object, nsim = 1, seed = 1, individuals = NULL, ...) {
  drawn <- lapply(seq_len(nsim), function(k) {
    text <- run_dtm("simulate", object$folder, options = list(individuals = individuals, seed = seed + k - 1, ...),
                    json = FALSE)
    cbind(sim = k, read_csv(textConnection(text)))
  })
  do.call(rbind, drawn)
}
