library(testthat)
library(trajectorymaps)

if (is.null(dtm_path(must_work = FALSE))) {
  cat("trajectorymaps: tests skipped, because the program dtm was not found (see ?dtm_path).\n")
} else {
  test_check("trajectorymaps")
}
