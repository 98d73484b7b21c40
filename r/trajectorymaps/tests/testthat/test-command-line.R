test_that("numbers are written so that they read back bit for bit", {
  x <- c(0.1, 1 / 3, 1e5, 123456789012, 2.5e-300, pi)
  expect_identical(as.numeric(cells(x)), x)
  expect_identical(cells(c(100000, NA)), c("100000", ""))
  expect_identical(cells(c(3L, NA)), c("3", ""))
})

test_that("dates go as the day that they show", {
  expect_identical(cells(as.Date(c("2020-01-01", NA))), c("2020-01-01", ""))
  expect_identical(cells(as.POSIXct("2020-01-01 23:30", tz = "America/New_York")), "2020-01-01")
})

test_that("options become flags", {
  expect_identical(flags(list(time_unit = "years", limits = c(0, 30), strict = TRUE, force = FALSE, noise = NULL)),
                   c("--time-unit", "years", "--limits", "0,30", "--strict"))
  expect_error(flags(list(1)), "expected names")
})

test_that("a table keeps quotes, commas and letters of all alphabets", {
  data <- data.frame(id = c("a,b", "say \"x\"", "M\u00fcller"), value = c(1, NA, 2.5))
  file <- write_table(data, names(data), tempfile())
  expect_identical(utils::read.csv(file, encoding = "UTF-8")$id, data$id)
  expect_error(write_table(data, "time", tempfile()), "expected a column \"time\"")
})

test_that("the program is found by option, and its absence has a remedy", {
  old <- options(trajectorymaps.dtm = "/no/such/program")
  on.exit(options(old))
  expect_null(dtm_path(must_work = FALSE))
  expect_error(dtm_path(), "Correct the option")
})

test_that("what the program refuses is an error with its own words", {
  visits <- data.frame(id = 1:3, time = 0, value = 1:3)
  expect_error(dtm(value ~ time | id, visits, transform = "cube"), "dtm fit ended with code 2: .*cube")
  visits$value <- c("1", "high", "2")
  expect_error(dtm(value ~ time | id, visits), "data (row 1 is line 2), line 3, column \"value\"", fixed = TRUE)
})
