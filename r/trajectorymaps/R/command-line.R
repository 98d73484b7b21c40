# The command line program: where it is, how it is called, what it says. Tables go as CSV, results come back as JSON.

#' The command that runs dtm: a program and its first arguments.
#' Looked for in the option trajectorymaps.dtm, the environment variable DTM, on the PATH, and in a built clone
#' around the working directory.
dtm_path <- function(must_work = TRUE) {
  asked <- getOption("trajectorymaps.dtm", Sys.getenv("DTM"))
  if (nzchar(asked)) {
    if (!file.exists(asked) && !nzchar(Sys.which(asked))) {
      if (!must_work) return(NULL)
      stop(sprintf("dtm: expected a program, received \"%s\", which does not exist. ", asked),
           "Correct the option trajectorymaps.dtm or the environment variable DTM.", call. = FALSE)
    }
    return(as_command(asked))
  }
  if (nzchar(Sys.which("dtm"))) return(unname(Sys.which("dtm")))
  in_clone <- clone_program(getwd())
  if (!is.null(in_clone)) return(as_command(in_clone))
  if (!must_work) return(NULL)
  stop("The program dtm was not found on the PATH. Set options(trajectorymaps.dtm = \"path/to/dtm\") or the ",
       "environment variable DTM, or work inside a clone of the repository that has been built (npm run demo).",
       call. = FALSE)
}

as_command <- function(program) {
  if (!grepl("\\.m?js$", program)) return(program)
  c("node", normalizePath(program))
}

# The program of the clone that holds a folder, once it is built.
clone_program <- function(folder) {
  repeat {
    program <- file.path(folder, "packages", "cli", "bin", "dtm.mjs")
    if (file.exists(program) && file.exists(file.path(folder, "packages", "cli", "dist", "main.mjs"))) return(program)
    if (dirname(folder) == folder) return(NULL)
    folder <- dirname(folder)
  }
}

# Runs a command and returns its JSON, or its text. Warnings of the program become warnings, its error an error.
run_dtm <- function(command, ..., options = list(), json = TRUE, simplify = TRUE, verbose = FALSE) {
  program <- dtm_path()
  out <- tempfile("dtm-out-")
  talk <- tempfile("dtm-talk-")
  on.exit(unlink(c(out, talk)))
  arguments <- c(program[-1], command, ..., flags(options), if (json) "--json", if (!verbose) c("--progress", "json"))
  code <- system2(program[1], shQuote(arguments), stdout = out, stderr = if (verbose) "" else talk)
  said <- if (verbose) character() else readLines(talk, warn = FALSE, encoding = "UTF-8")
  events <- lapply(said, function(line) {
    tryCatch(jsonlite::fromJSON(line), error = function(e) list(event = "error", text = line))
  })
  told <- function(kind) {
    texts <- unlist(lapply(events, function(event) if (identical(event$event, kind)) event$text))
    # Who reads it knows the data, and not the file that they were handed over in: its first line are the names.
    gsub("\\S*dtm-table-[0-9a-f]+\\.csv", "data (row 1 is line 2)", texts)
  }
  if (code != 0) {
    why <- if (verbose) "see its message above." else paste(told("error"), collapse = "\n")
    stop(sprintf("dtm %s ended with code %d: %s", command, code, why), call. = FALSE)
  }
  for (text in told("warning")) warning(text, call. = FALSE)
  text <- paste(readLines(out, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
  if (json) jsonlite::fromJSON(text, simplifyVector = simplify) else text
}

# list(time_unit = "years", strict = TRUE) as c("--time-unit", "years", "--strict").
flags <- function(options) {
  options <- Filter(Negate(is.null), options)
  if (length(options) > 0 && (is.null(names(options)) || any(!nzchar(names(options))))) {
    stop("Options of dtm: expected names, as in restarts = 0; received one without.", call. = FALSE)
  }
  unlist(Map(function(name, value) {
    flag <- paste0("--", gsub("[._]", "-", name))
    if (isTRUE(value)) return(flag)
    if (isFALSE(value)) return(NULL)
    c(flag, paste(cells(value), collapse = ","))
  }, names(options), options), use.names = FALSE)
}

# A column as text that reads back bit for bit; missing values are empty.
cells <- function(x) {
  text <- if (is_date(x)) {
    shown_day(x)
  } else if (is.double(x)) {
    short <- sprintf("%.15g", x)
    exact <- !is.finite(x) | suppressWarnings(as.numeric(short)) == x
    ifelse(exact, short, sprintf("%.17g", x))
  } else as.character(x)
  ifelse(is.na(x), "", text)
}

# Writes columns of a data frame as CSV and returns the file.
write_table <- function(data, columns, file) {
  missing_columns <- setdiff(columns, names(data))
  if (length(missing_columns) > 0) {
    stop(sprintf("Data: expected a column \"%s\"; there are %s.", missing_columns[1],
                 paste(names(data), collapse = ", ")), call. = FALSE)
  }
  quoted <- function(text) paste0("\"", gsub("\"", "\"\"", text), "\"")
  texts <- lapply(columns, function(name) {
    text <- cells(data[[name]])
    if (is.numeric(data[[name]])) text else ifelse(nzchar(text), quoted(enc2utf8(text)), "")
  })
  lines <- c(paste(quoted(columns), collapse = ","), do.call(paste, c(texts, sep = ",")))
  connection <- file(file, "wb")
  on.exit(close(connection))
  writeLines(enc2utf8(lines), connection, useBytes = TRUE)
  file
}

# Runs f with a table in a private file that is gone afterwards.
with_table <- function(data, columns, f) {
  if (is.null(data)) return(f(NULL))
  file <- tempfile("dtm-table-", fileext = ".csv")
  on.exit(unlink(file))
  write_table(data, columns, file)
  Sys.chmod(file, "600")
  f(file)
}
