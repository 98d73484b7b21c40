# The study around a map: held-out comparison, groups, outcomes. Results also stay in the folder of the run.

compare <- function(object, ...) UseMethod("compare")
groups <- function(object, ...) UseMethod("groups")
associate <- function(object, ...) UseMethod("associate")

compare.dtm <- function(object, models = NULL, folds = 10, seed = 1, ...) {
  told <- run_dtm("compare", object$folder, options = list(models = models, folds = folds, seed = seed, ...))
  structure(told, class = "dtm_compare")
}

print.dtm_compare <- function(x, digits = 4, ...) {
  cat(sprintf("Held-out comparison, %d folds\n", x$folds))
  models <- x$models
  table <- if (is.null(models$perIndividual)) {
    data.frame(model = models$model, log_lik_per_individual = models$subjectLogLik$mean, se = models$subjectLogLik$se,
               next_crps = models$nextVisit$crps, next_mae = models$nextVisit$mae,
               coverage90 = models$nextVisit$coverage$p90)
  } else {
    data.frame(model = models$model, log_lik_per_individual = models$perIndividual, coverage90 = models$coverage$p90)
  }
  print(table, digits = digits, row.names = FALSE)
  cat(strwrap(x$verdict), sep = "\n")
  invisible(x)
}

groups.dtm <- function(object, groups = "auto", stability = NULL, seed = 1, ...) {
  told <- run_dtm("groups", object$folder, options = list(groups = groups, stability = stability, seed = seed, ...))
  told$members <- read_csv(file.path(object$folder, "groups.csv"))
  told$members$id <- own_ids(object, told$members$id)
  structure(told, class = "dtm_groups")
}

print.dtm_groups <- function(x, ...) {
  cat(sprintf("%d groups\n", x$numGroups))
  print(x$groups[c("letter", "name", "size")], row.names = FALSE)
  if (!is.null(x$choice$sentence)) cat(strwrap(x$choice$sentence), sep = "\n")
  invisible(x)
}

associate.dtm <- function(object, subjects, outcomes, event = NULL, adjust = NULL, seed = 1, ...) {
  told <- with_table(subjects, names(subjects), function(file) {
    run_dtm("associate", object$folder, file, options = list(
      outcomes = outcomes, event = event, adjust = covariate_terms(adjust), seed = seed, ...))
  })
  structure(told, class = "dtm_associate")
}

print.dtm_associate <- function(x, digits = 3, ...) {
  outcomes <- x$outcomes
  cat("Outcomes and places, by whole posteriors\n")
  print(data.frame(outcome = outcomes$outcome, cases = outcomes$cases, controls = outcomes$controls, p = outcomes$p,
                   holm = outcomes$adjusted$holm, auc = outcomes$effect$auc$value),
        digits = digits, row.names = FALSE)
  invisible(x)
}
