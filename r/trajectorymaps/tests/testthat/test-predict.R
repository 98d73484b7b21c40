test_that("forecasts are those of the command line", {
  fit <- small_fit()
  told <- suppressWarnings(predict(fit, at = c(1, 2.5), level = 0.8))
  lines <- by_hand("predict", fit$folder, file.path(study$cohort$folder, "visits.csv"), "--at", "1,2.5", "--level", "0.8")
  expected <- utils::read.csv(text = lines)
  expect_identical(names(told), names(expected))
  # R reads decimal numbers to the last bit but one.
  expect_equal(told, expected, tolerance = 1e-14)
})

test_that("new individuals, thresholds and refusals", {
  fit <- small_fit()
  new <- data.frame(id = "new", time = c(0.5, 1), value = c(70, 65))
  expect_identical(predict(fit, new, at = 2)$id, "new")
  crossing <- predict(fit, new, threshold = 50, below = TRUE)
  expect_true(crossing$probability >= 0 && crossing$probability <= 1)
  expect_error(predict(fit, new), "expected times")
})

test_that("fitted values and residuals add up to the data", {
  fit <- small_fit()
  expect_equal(fitted(fit) + residuals(fit), fit$data$value)
  told <- augment.dtm(fit)
  expect_equal(told$.fitted, fitted(fit))
  one <- predict(fit, at = fit$data$time[1], interval = "curve")
  expect_equal(fitted(fit)[1], one$mean[one$id == fit$data$id[1]], tolerance = 1e-14)
})

test_that("simulated cohorts differ by their seeds", {
  drawn <- simulate(small_fit(), nsim = 2, individuals = 5)
  expect_identical(unique(drawn$sim), 1:2)
  expect_false(isTRUE(all.equal(drawn$value[drawn$sim == 1], drawn$value[drawn$sim == 2])))
})

test_that("dates and times since an origin are counted as the command line counts them", {
  small_fit()
  visits <- study$cohort$visits
  entry <- as.Date("2001-02-03") + 11 * match(visits$id, unique(visits$id))
  visits$day <- entry + round(visits$time * 365.25)
  visits$onset <- entry - 100
  visits$age <- 40 + visits$time
  visits$value[3] <- NA
  less <- list(dim = 1, restarts = 0, jobs = 1, noise = "white")
  for (asked in list(list(value ~ day | id, time_unit = "months"), list(value ~ day | id, origin = "column:onset"),
                     list(value ~ day | id, origin = "date:2000-01-01"), list(value ~ age | id, origin = "first"))) {
    fit <- suppressWarnings(do.call(dtm, c(asked, list(data = visits), less)))
    values <- suppressWarnings(fitted(fit))
    expect_identical(which(is.na(values)), 3L)
    # The folder holds counted times.
    opened <- dtm_open(fit$folder)
    expect_equal(sort(suppressWarnings(fitted(opened))), sort(values), tolerance = 1e-14)
    kept <- which(!is.na(visits$value))
    expect_equal(sort(counted_times(fit)[kept]), sort(opened$data$time), tolerance = 1e-14)
    file <- tempfile(fileext = ".pdf")
    grDevices::pdf(file)
    drawn <- suppressWarnings(plot(fit, id = visits$id[1], at = 1:3))
    again <- suppressWarnings(plot(opened, id = visits$id[1], at = 1:3))
    grDevices::dev.off()
    expect_equal(again$mean, drawn$mean, tolerance = 1e-12)
    expect_equal(region_sizes(opened, ranef(opened)), region_sizes(fit, ranef(fit)), tolerance = 1e-12)
  }
})
