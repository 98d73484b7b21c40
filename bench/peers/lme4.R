# Linear mixed model with spline coefficients by lme4. Usage: Rscript lme4.R visits.csv (id, value, b1..bd).
# Prints one line of JSON: cpu seconds of the fit alone, log-likelihood.
suppressMessages(library(lme4))
d <- read.csv(commandArgs(TRUE)[1])
b <- grep("^b[0-9]+$", names(d), value = TRUE)
f <- as.formula(paste("value ~ 1 + (0 +", paste(b, collapse = " + "), "| id)"))
control <- lmerControl(optimizer = "nloptwrap", calc.derivs = FALSE, check.nobs.vs.nRE = "ignore")
t <- system.time(m <- suppressWarnings(suppressMessages(lmer(f, d, REML = FALSE, control = control))))
cat(sprintf('{"cpu":%.4f,"logLik":%.6f}\n', t[["user.self"]] + t[["sys.self"]], as.numeric(logLik(m))))
