# Fitting: a formula and a data frame become a call of `dtm fit`; the folder of the run becomes an object.

dtm <- function(formula, data, transform = NULL, unit = NULL, time_unit = NULL, covariates = NULL, subjects = NULL,
                markers = NULL, noise = NULL, seed = 1, folder = NULL, force = FALSE, verbose = FALSE, ...) {
  columns <- formula_columns(formula, several = !is.null(markers))
  more <- list(...)
  named <- c(columns, marker_column = more$marker_column)
  of_visits <- unname(c(named, if (is.null(more$marker_column)) sub("[:[].*$", "", markers)))
  of_visits <- union(of_visits, intersect(origin_column(more$origin), names(data)))
  wanted <- covariate_terms(covariates)
  if (is.null(subjects)) of_visits <- union(of_visits, sub(":.*$", "", wanted))
  keep <- !is.null(folder)
  if (!keep) folder <- tempfile("dtm-run-")
  options <- c(as.list(columns),
               list(transform = transform, unit = unit, time_unit = time_unit, markers = markers,
                    covariates = wanted, noise = noise, seed = seed, out = folder, force = force), more)
  fit <- with_table(data, of_visits, function(visits) {
    with_table(subjects, names(subjects), function(described) {
      run_dtm("fit", visits, options = c(options, list(subjects = described)), simplify = FALSE, verbose = verbose)
    })
  })
  made <- dtm_open(folder)
  made$call <- match.call()
  made$formula <- formula
  made$covariates <- tables_of(fit$covariates)
  made$data <- as.data.frame(data)[of_visits]
  made$subjects <- subjects
  made$columns <- as.list(named)
  made$counted <- FALSE
  made
}

dtm_open <- function(folder) {
  file <- function(...) file.path(folder, ...)
  if (dir.exists(file(".dtm-commit"))) {
    stop(sprintf("dtm_open: \"%s\" was left while its files were put in their places. ", folder),
         "Run dtm summary on it, which finishes that, and open it again.", call. = FALSE)
  }
  if (!file.exists(file("run.json")) || !file.exists(file("model.json"))) {
    stop(sprintf("dtm_open: expected the folder of a run with run.json and model.json, received \"%s\". ", folder),
         "Make one with dtm(..., folder = ) or dtm fit.", call. = FALSE)
  }
  run <- jsonlite::read_json(file("run.json"), simplifyVector = TRUE)
  several <- !is.null(run$markers)
  data <- NULL
  if (file.exists(file("visits.csv"))) data <- read_csv(file("visits.csv"))
  columns <- list(id = "id", time = "time", value = "value", marker_column = if (several) "marker")
  made <- list(call = NULL, formula = value ~ time | id, folder = normalizePath(folder), run = run,
               model = jsonlite::read_json(file("model.json"), simplifyVector = TRUE, simplifyDataFrame = FALSE)$model,
               covariates = NULL, data = data, subjects = NULL, columns = columns, counted = TRUE)
  structure(made, class = "dtm")
}

# value ~ time | id as list(id, time, value); the left side is left out when several markers are named apart.
formula_columns <- function(formula, several) {
  usual <- if (several) "~ time | id" else "value ~ time | id"
  refuse <- function() {
    stop(sprintf("Formula: expected %s with names of columns, received %s.%s", usual,
                 paste(deparse(formula), collapse = " "),
                 if (any(c("log", "sqrt", "log1p") %in% all.names(formula))) {
                   " Ask for a transformed scale with transform = \"log\"."
                 } else ""), call. = FALSE)
  }
  if (!inherits(formula, "formula")) refuse()
  right <- formula[[length(formula)]]
  bar <- is.call(right) && identical(right[[1]], as.name("|"))
  if (!bar || !is.name(right[[2]]) || !is.name(right[[3]])) refuse()
  columns <- c(id = as.character(right[[3]]), time = as.character(right[[2]]))
  if (length(formula) == 2) {
    if (!several) refuse()
    return(columns)
  }
  if (!is.name(formula[[2]])) refuse()
  c(columns, value = as.character(formula[[2]]))
}

# ~ age + sex, or c("age", "sex:level") as the command line writes them.
covariate_terms <- function(covariates) {
  if (!inherits(covariates, "formula")) return(covariates)
  variables <- attr(stats::terms(covariates), "term.labels")
  if (length(covariates) != 2 || !all(variables %in% all.vars(covariates))) {
    stop("Covariates: expected ~ age + sex with names of columns, received ", deparse(covariates), ".", call. = FALSE)
  }
  variables
}

# Shifts and effects of covariates as data frames.
tables_of <- function(covariates) {
  if (is.null(covariates)) return(NULL)
  frame <- function(rows) {
    if (length(rows) == 0) return(NULL)
    flat <- lapply(rows, function(row) {
      row <- lapply(row, function(cell) if (is.null(cell)) NA else unlist(cell))
      as.data.frame(as.list(unlist(lapply(row, as.list), recursive = FALSE)), stringsAsFactors = FALSE)
    })
    do.call(rbind, flat)
  }
  list(shifts = frame(covariates$shifts), effects = frame(covariates$effects), cautions = unlist(covariates$cautions))
}

read_csv <- function(file) {
  table <- utils::read.csv(file, colClasses = "character", check.names = FALSE, encoding = "UTF-8", na.strings = "")
  numeric <- setdiff(names(table), c("id", "marker", "group"))
  # Values beyond a limit of detection ("<0.3") stay text.
  table[numeric] <- lapply(table[numeric], utils::type.convert, as.is = TRUE)
  table
}

# Ids as they are in the data, of their type, from ids as the program writes them (with ' before what a spreadsheet runs).
own_ids <- function(object, ids) {
  known <- unique(object$data[[object$columns$id]])
  texts <- cells(known)
  rows <- match(ids, texts)
  rows <- ifelse(is.na(rows), match(sub("^'", "", ids), texts), rows)
  if (anyNA(rows)) ids else known[rows]
}
