# Figures: places, or one individual's visits with course and band.

plot.dtm <- function(x, id = NULL, colour = NULL, at = NULL, level = 0.9, ...) {
  if (is.null(id)) {
    places <- ranef(x)
    flat <- is.null(places$x2)
    given <- list(...)
    usual <- list(xlab = "Axis 1", ylab = if (flat) "" else "Axis 2", asp = 1, pch = 19, cex = 0.6,
                  col = if (is.null(colour)) "grey30" else as.integer(as.factor(colour)))
    do.call(graphics::plot, c(list(places$x1, if (flat) 0 * places$x1 else places$x2),
                              utils::modifyList(usual, given)))
    return(invisible(places))
  }
  course <- course_of(x, id, at, level)
  seen <- course$seen
  graphics::plot(range(course$rows$time), range(course$rows$lower, course$rows$upper, seen$value, na.rm = TRUE), type = "n",
                 xlab = paste_unit("Time", x$run$marker$timeUnit), ylab = paste_unit(x$run$marker$name, x$run$marker$unit),
                 ...)
  graphics::polygon(c(course$rows$time, rev(course$rows$time)), c(course$rows$lower, rev(course$rows$upper)),
                    col = grDevices::adjustcolor("steelblue", 0.25), border = NA)
  graphics::lines(course$rows$time, course$rows$median, col = "steelblue")
  graphics::points(seen$time, seen$value, pch = 19)
  invisible(course$rows)
}

paste_unit <- function(name, unit) if (is.null(unit) || !nzchar(unit)) name else sprintf("%s (%s)", name, unit)

# Visits of one individual of the data, and the course with its band.
course_of <- function(object, id, at, level) {
  if (length(object$model$markers) > 1) {
    stop("plot: expected a map of one marker to draw a course; of several use predict().", call. = FALSE)
  }
  data <- object$data[object$data[[object$columns$id]] %in% id, , drop = FALSE]
  if (nrow(data) == 0) stop(sprintf("plot: there is no individual \"%s\" in the data.", id), call. = FALSE)
  subjects <- object$subjects
  knots <- object$model$markers[[1]]$basis$knots
  if (is.null(at)) at <- seq(min(knots), max(knots), length.out = 50)
  list(seen = data.frame(time = counted_times(object, data),
                         value = suppressWarnings(as.numeric(data[[object$columns$value]]))),
       rows = do.call(predict, c(list(object, data, at = at, level = level, subjects = subjects),
                              if (object$counted) list(origin = "none"))))
}

autoplot.dtm <- function(object, id = NULL, colour = NULL, at = NULL, level = 0.9, ...) {
  if (is.null(id)) {
    places <- ranef(object)
    if (is.null(places$x2)) places$x2 <- 0
    places$colour <- if (is.null(colour)) "all" else colour
    drawn <- ggplot2::ggplot(places, ggplot2::aes(x = .data$x1, y = .data$x2,
                                                  colour = .data$colour)) +
      ggplot2::geom_point(size = 1, show.legend = !is.null(colour)) + ggplot2::coord_equal() +
      ggplot2::labs(x = "Axis 1", y = "Axis 2", colour = NULL)
    return(if (is.null(colour)) drawn + ggplot2::scale_colour_manual(values = "grey30") else drawn)
  }
  course <- course_of(object, id, at, level)
  rows <- course$rows
  seen <- course$seen
  ggplot2::ggplot(rows, ggplot2::aes(x = .data$time)) +
    ggplot2::geom_ribbon(ggplot2::aes(ymin = .data$lower, ymax = .data$upper),
                         fill = "steelblue", alpha = 0.25) +
    ggplot2::geom_line(ggplot2::aes(y = .data$median), colour = "steelblue") +
    ggplot2::geom_point(data = seen, ggplot2::aes(x = .data$time, y = .data$value)) +
    ggplot2::labs(x = paste_unit("Time", object$run$marker$timeUnit),
                  y = paste_unit(object$run$marker$name, object$run$marker$unit))
}

# The pronoun of ggplot2 for columns of its data.
utils::globalVariables(".data")
