# A small simulated registry, made and fitted once.
simulated <- function(...) {
  folder <- tempfile("simulated-")
  run_dtm("simulate", ..., options = list(out = folder), json = FALSE)
  list(folder = folder, visits = read_csv(file.path(folder, "visits.csv")),
       subjects = utils::read.csv(file.path(folder, "subjects.csv"), stringsAsFactors = FALSE))
}

# What the program prints when it is called by hand.
by_hand <- function(...) {
  command <- c(dtm_path(), ..., "-q")
  system2(command[1], shQuote(command[-1]), stdout = TRUE)
}

study <- new.env()
small_fit <- function() {
  if (is.null(study$fit)) {
    study$cohort <- simulated("pfvc", "--individuals", "60", "--seed", "7")
    study$fit <- dtm(value ~ time | id, study$cohort$visits, unit = "%", time_unit = "years", restarts = 0, jobs = 1,
                     noise = "white")
  }
  study$fit
}
