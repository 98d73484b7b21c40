test_that("formulas other than value ~ time | id are refused", {
  expect_identical(formula_columns(bili ~ years | patient, FALSE), c(id = "patient", time = "years", value = "bili"))
  expect_identical(formula_columns(~ years | patient, TRUE), c(id = "patient", time = "years"))
  expect_error(formula_columns(bili ~ years, FALSE), "expected value ~ time | id")
  expect_error(formula_columns(log(bili) ~ years | patient, FALSE), "transform = \"log\"")
  expect_error(covariate_terms(~ log(age)), "expected ~ age")
})

test_that("a fit is that of the command line, byte for byte", {
  fit <- small_fit()
  folder <- tempfile()
  by_hand("fit", file.path(study$cohort$folder, "visits.csv"), "--unit", "%", "--time-unit", "years",
          "--restarts", "0", "--noise", "white", "-o", folder)
  for (file in c("model.json", "placements.csv", "visits.csv")) {
    expect_identical(readLines(file.path(fit$folder, file)), readLines(file.path(folder, file)))
  }
})

test_that("an object tells what the run holds", {
  fit <- small_fit()
  expect_output(print(fit), "60 individuals")
  expect_identical(nobs(fit), nrow(study$cohort$visits))
  told <- summary(fit)
  expect_output(print(told), "Verdict")
  expect_identical(told$lights$name[1], "settled")
  expect_equal(told$map$map_share, fit$model$markers[[1]]$varianceShare)
  expect_named(coef(fit), c("mean", "noise", "residual", "kernel", "shifts", "effects"))
  expect_identical(formula(fit), value ~ time | id, ignore_formula_env = TRUE)
})

test_that("places have a row per individual, with ids as they are in the data", {
  visits <- small_fit()$data
  visits$id <- as.integer(sub("P", "", visits$id)) - 3L
  fit <- dtm(value ~ time | id, visits, model = "lmm", noise = "white", jobs = 1)
  expect_type(ranef(fit)$id, "integer")
  expect_setequal(ranef(fit)$id, unique(visits$id))
  expect_true(all(c("x1", "x2", "var11", "var12", "var22") %in% names(ranef(fit))))
})

test_that("a run is opened from its folder", {
  fit <- small_fit()
  again <- dtm_open(fit$folder)
  expect_equal(predict(again, at = 1, interval = "curve"), predict(fit, at = 1, interval = "curve"))
  expect_error(dtm_open(tempdir()), "expected the folder of a run")
})

test_that("covariates and several markers go through", {
  cohort <- simulated("markers", "--covariates", "places", "--individuals", "80", "--seed", "3")
  described <- setdiff(names(cohort$subjects), "id")
  visits <- cohort$visits
  fit <- dtm(value ~ time | id, visits, covariates = stats::reformulate(described[1:2]), subjects = cohort$subjects,
             restarts = 0, jobs = 1)
  expect_setequal(unique(coef(fit)$shifts$covariate), described[1:2])
  expect_s3_class(predict(fit, at = 1), "data.frame")
  expect_length(fitted(fit), nrow(visits))

  pair <- simulated("markers", "--individuals", "60", "--seed", "5")$visits
  names <- unique(pair$marker)
  both <- dtm(value ~ time | id, pair, markers = names, marker_column = "marker", restarts = 0, jobs = 1)
  told <- predict(both, at = 1)
  expect_setequal(unique(told$marker), names)
  expect_named(coef(both)$noise, names)
  wide <- stats::reshape(pair, idvar = c("id", "time"), timevar = "marker", direction = "wide")
  names(wide) <- sub("^value\\.", "", names(wide))
  apart <- dtm(~ time | id, wide, markers = names, restarts = 0, jobs = 1)
  expect_equal(predict(apart, at = 1)$mean, told$mean, tolerance = 1e-10)
})
