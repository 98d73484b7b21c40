/** References of the methods: cited by key inside sentences, numbered in the order in which they first appear, listed if cited. */

const REFERENCES = {
  dtm: "Schulam P, Arora R. Disease trajectory maps. Advances in Neural Information Processing Systems 29, 2016.",
  gplvm:
    "Titsias MK, Lawrence ND. Bayesian Gaussian process latent variable model. Proceedings of the 13th International Conference on Artificial Intelligence and Statistics, 2010: 844–851.",
  lmm: "Laird NM, Ware JH. Random-effects models for longitudinal data. Biometrics 1982; 38: 963–974.",
  fpca: "James GM, Hastie TJ, Sugar CA. Principal component models for sparse functional data. Biometrika 2000; 87: 587–602.",
  louis:
    "Louis TA. Finding the observed information matrix when using the EM algorithm. Journal of the Royal Statistical Society, Series B 1982; 44: 226–233.",
  ward: "Ward JH. Hierarchical grouping to optimize an objective function. Journal of the American Statistical Association 1963; 58: 236–244.",
  gap: "Tibshirani R, Walther G, Hastie T. Estimating the number of clusters in a data set via the gap statistic. Journal of the Royal Statistical Society, Series B 2001; 63: 411–423.",
  rand: "Hubert L, Arabie P. Comparing partitions. Journal of Classification 1985; 2: 193–218.",
  smd: "Austin PC. Balance diagnostics for comparing the distribution of baseline covariates between treatment groups in propensity-score matched samples. Statistics in Medicine 2009; 28: 3083–3107.",
  smdCategories:
    "Yang D, Dalton JE. A unified approach to measuring the effect size between two groups using SAS. SAS Global Forum 2012, paper 335.",
  scores:
    "Gneiting T, Raftery AE. Strictly proper scoring rules, prediction, and estimation. Journal of the American Statistical Association 2007; 102: 359–378.",
  kde: "Duong T, Goud B, Schauer K. Closed-form density-based framework for automatic detection of cellular morphology changes. Proceedings of the National Academy of Sciences 2012; 109: 8382–8387.",
  leavePairOut:
    "Airola A, Pahikkala T, Waegeman W, De Baets B, Salakoski T. An experimental comparison of cross-validation techniques for estimating the area under the ROC curve. Computational Statistics & Data Analysis 2011; 55: 1828–1844.",
  holm: "Holm S. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 1979; 6: 65–70.",
  bh: "Benjamini Y, Hochberg Y. Controlling the false discovery rate: a practical and powerful approach to multiple testing. Journal of the Royal Statistical Society, Series B 1995; 57: 289–300.",
  landmark:
    "Anderson JR, Cain KC, Gelber RD. Analysis of survival by tumor response. Journal of Clinical Oncology 1983; 1: 710–719.",
  kaplanMeier:
    "Kaplan EL, Meier P. Nonparametric estimation from incomplete observations. Journal of the American Statistical Association 1958; 53: 457–481.",
  aalenJohansen:
    "Aalen OO, Johansen S. An empirical transition matrix for non-homogeneous Markov chains based on censored observations. Scandinavian Journal of Statistics 1978; 5: 141–150.",
  logRank:
    "Mantel N. Evaluation of survival data and two new rank order statistics arising in its consideration. Cancer Chemotherapy Reports 1966; 50: 163–170.",
  cox: "Cox DR. Regression models and life-tables. Journal of the Royal Statistical Society, Series B 1972; 34: 187–220.",
  proportionalHazards:
    "Grambsch PM, Therneau TM. Proportional hazards tests and diagnostics based on weighted residuals. Biometrika 1994; 81: 515–526.",
  rubin: "Rubin DB. Multiple imputation for nonresponse in surveys. New York: Wiley, 1987.",
  barnardRubin:
    "Barnard J, Rubin DB. Small-sample degrees of freedom with multiple imputation. Biometrika 1999; 86: 948–955.",
  patternMixture:
    "Little RJA. Pattern-mixture models for multivariate incomplete data. Journal of the American Statistical Association 1993; 88: 125–134.",
  concordance:
    "Harrell FE, Califf RM, Pryor DB, Lee KL, Rosati RA. Evaluating the yield of medical tests. JAMA 1982; 247: 2543–2546.",
  wilson:
    "Wilson EB. Probable inference, the law of succession, and statistical inference. Journal of the American Statistical Association 1927; 22: 209–212.",
  strobe:
    "von Elm E, Altman DG, Egger M, Pocock SJ, Gøtzsche PC, Vandenbroucke JP. The Strengthening the Reporting of Observational Studies in Epidemiology (STROBE) statement: guidelines for reporting observational studies. Lancet 2007; 370: 1453–1457.",
  grolts:
    "van de Schoot R, Sijbrandij M, Winter SD, Depaoli S, Vermunt JK. The GRoLTS-checklist: guidelines for reporting on latent trajectory studies. Structural Equation Modeling 2017; 24: 451–467.",
} as const;

export type ReferenceKey = keyof typeof REFERENCES;

// Characters for private use keep citations apart from names that come from data.
const [OPEN, CLOSE] = ["\uE000", "\uE001"];
const CITATION = new RegExp(` ?${OPEN}([a-zA-Z,]+)${CLOSE}`, "g");

/** A citation inside a sentence, to be numbered by `numbered`. */
export function cite(...keys: readonly ReferenceKey[]): string {
  return ` ${OPEN}${keys.join(",")}${CLOSE}`;
}

/** Texts with their citations as numbers in brackets, and the references in the order of these numbers. */
export function numbered(texts: readonly string[]): {
  readonly texts: readonly string[];
  readonly references: readonly string[];
} {
  const cited: ReferenceKey[] = [];
  const numberOf = (key: ReferenceKey) => {
    if (!cited.includes(key)) cited.push(key);
    return cited.indexOf(key) + 1;
  };
  const replaced = texts.map((text) =>
    text.replace(CITATION, (found, list: string) => {
      const keys = list.split(",").filter((key): key is ReferenceKey => Object.hasOwn(REFERENCES, key));
      // Names from data are not citations, whatever they hold.
      return keys.length === 0 ? found : ` [${keys.map(numberOf).join(", ")}]`;
    }),
  );
  return { texts: replaced, references: cited.map((key) => REFERENCES[key]) };
}
