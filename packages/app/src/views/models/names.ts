/** Models in words. */
import type { ComparedModel } from "@trajectory-maps/core";

export const MODEL_NAMES: Readonly<Record<ComparedModel, string>> = {
  constant: "Constant",
  line: "Straight lines",
  lmm: "Mixed model",
  fpca: "Functional PCA",
  dtm: "Trajectory map",
  "dtm-paper": "Map as published",
  classes: "Latent classes",
};
