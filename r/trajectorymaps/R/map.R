# The interactive map as an htmlwidget: R Markdown, Quarto, Shiny, or a page of its own.

dtm_map <- function(object, colour = NULL, title = NULL, groups = NULL, terrain = NULL,
                    theme = c("light", "dark", "system"), width = NULL, height = NULL, elementId = NULL) {
  library_file <- system.file("htmlwidgets", "lib", "trajectory-map", "trajectory-map.js", package = "trajectorymaps")
  if (!nzchar(library_file)) {
    stop("dtm_map: the package was installed without the script of the map. ",
         "In the clone run npm run build:r, then R CMD INSTALL r/trajectorymaps.", call. = FALSE)
  }
  if (!object$run$model %in% c("dtm", "dtm-paper")) {
    stop(sprintf("dtm_map: expected a map, received a model of kind %s.", object$run$model), call. = FALSE)
  }
  places <- ranef(object)
  if (!is.null(groups)) {
    colour <- factor(groups$members$group[match(places$id, groups$members$id)], levels = groups$groups$letter)
  }
  if (!is.null(colour) && length(colour) != nrow(places)) {
    stop(sprintf("dtm_map: colour has %d entries, there are %d individuals; it follows the rows of ranef(object).",
                 length(colour), nrow(places)), call. = FALSE)
  }
  data <- list(model = paste(readLines(file.path(object$folder, "model.json"), warn = FALSE, encoding = "UTF-8"),
                             collapse = "\n"),
               places = widget_places(object, places), theme = match.arg(theme), terrain = terrain)
  data$colour <- widget_colour(colour, if (!is.null(title)) title else if (!is.null(groups)) "Group" else "Colour", groups)
  if (!is.null(groups)) data$groups <- list(labels = data$colour$labels, groups = data$colour$categories)
  htmlwidgets::createWidget("dtm_map", data, width = width, height = height, elementId = elementId,
                            package = "trajectorymaps",
                            sizingPolicy = htmlwidgets::sizingPolicy(defaultWidth = "100%", defaultHeight = 520,
                                                                     knitr.figure = FALSE, knitr.defaultWidth = "100%",
                                                                     knitr.defaultHeight = 520, browser.fill = TRUE))
}

# Places as the widget reads them: arrays row by row, I() so that one individual is an array too.
widget_places <- function(object, places) {
  q <- object$model$mapDimension
  axis <- function(k) places[[paste0("x", k)]]
  variance <- function(j, k) places[[sprintf("var%d%d", min(j, k), max(j, k))]]
  pairs <- expand.grid(k = seq_len(q), j = seq_len(q))
  by_row <- function(columns) I(as.vector(t(do.call(cbind, columns))))
  list(ids = I(cells(places$id)), location = by_row(lapply(seq_len(q), axis)),
       covariance = by_row(Map(variance, pairs$j, pairs$k)), visits = I(places$visits),
       firstTime = I(places$first_time), lastTime = I(places$last_time), area50 = I(region_sizes(object, places)))
}

# Sizes of the regions of places: a moment is pulled by the little mass that lies where the map means nothing.
region_sizes <- function(object, places) {
  if (is.null(object$data)) return(rep(NA_real_, nrow(places)))
  told <- suppressWarnings(with_visits(object, object$data, object$subjects, function(visits, columns) {
    run_dtm("embed", object$folder, visits, options = columns)
  }, counted = object$counted))$placements
  told$area50[match(cells(places$id), told$id)]
}

widget_colour <- function(colour, title, groups) {
  if (is.null(colour)) return(NULL)
  if (is.numeric(colour)) return(list(kind = "number", title = title, values = I(colour)))
  colour <- as.factor(colour)
  categories <- lapply(levels(colour), function(name) list(name = name))
  if (!is.null(groups)) {
    categories <- unname(Map(function(name, letter) list(name = name, letter = letter),
                             groups$groups$name, groups$groups$letter))
  }
  labels <- as.integer(colour) - 1L
  list(kind = "category", title = title, labels = I(ifelse(is.na(labels), -1L, labels)), categories = categories)
}

dtm_map_output <- function(outputId, width = "100%", height = "520px") {
  htmlwidgets::shinyWidgetOutput(outputId, "dtm_map", width, height, package = "trajectorymaps")
}

render_dtm_map <- function(expr, env = parent.frame(), quoted = FALSE) {
  if (!quoted) expr <- substitute(expr)
  htmlwidgets::shinyRenderWidget(expr, dtm_map_output, env, quoted = TRUE)
}
