# Two-sample density test of ks. Usage: Rscript ks.R places.csv (x1, x2, label). Prints JSON: cpu seconds, z, p.
suppressMessages(library(ks))
d <- read.csv(commandArgs(TRUE)[1])
x <- as.matrix(d[d$label == 1, 1:2]); y <- as.matrix(d[d$label == 0, 1:2])
best <- Inf
for (k in 1:3) {
  t <- system.time(r <- kde.test(x1 = x, x2 = y))
  best <- min(best, t[["user.self"]] + t[["sys.self"]])
}
cat(sprintf('{"cpu":%.4f,"z":%.8g,"p":%.8g}\n', best, r$zstat, r$pvalue))
