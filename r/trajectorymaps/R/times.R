# Times: the program counts dates, and numbers less an origin; what stands beside its answers is counted here by the same rule.

is_date <- function(x) inherits(x, c("Date", "POSIXt"))

# The day as it is shown, whatever the time of day and the time zone.
shown_day <- function(x) format(x, "%Y-%m-%d")

days_of <- function(x) if (is_date(x)) as.numeric(as.Date(shown_day(x))) else suppressWarnings(as.numeric(x))

days_per <- c(years = 365.25, months = 30.4375, weeks = 7, days = 1)

# The column that "column:NAME" counts from; NULL for every other origin.
origin_column <- function(origin) {
  if (is.character(origin) && startsWith(origin, "column:")) trimws(substring(origin, 8))
}

# Times of visits of the data, as answers have them: as they are, or (time - origin)/(days of the unit).
counted_times <- function(object, data = object$data) {
  times <- data[[object$columns$time]]
  rule <- object$model$markers[[1]]$columns
  dates <- is_date(times)
  if (object$counted || is.null(rule$origin) || isTRUE(rule$dates) != dates) {
    if (isTRUE(rule$dates) && is.character(times)) {
      stop(sprintf("Times: expected dates in \"%s\", received text. Make them dates with as.Date before dtm().",
                   object$columns$time), call. = FALSE)
    }
    return(as.numeric(times))
  }
  ids <- cells(data[[object$columns$id]])
  counted <- days_of(times)
  column <- origin_column(rule$origin)
  start <- if (!is.null(column)) {
    if (column %in% names(data)) known <- data else known <- object$subjects
    given <- !is.na(known[[column]])
    days_of(known[[column]])[given][match(ids, cells(known[[object$columns$id]])[given])]
  } else if (rule$origin == "first") {
    measured <- nzchar(cells(data[[object$columns$value]]))
    first <- tapply(counted[measured], ids[measured], min)
    as.numeric(first[ids])
  } else {
    as.numeric(as.Date(sub("^date:", "", rule$origin)))
  }
  (counted - start) / if (dates) days_per[[object$model$markers[[1]]$marker$timeUnit]] else 1
}
