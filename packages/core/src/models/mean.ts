/**
 * The mean function as a design (docs/math/linear.md §2): coefficients β = Hγ of the spline basis, with columns H [d,c] and
 * parameters γ [c]. The basis sums to one, so
 *   scalar (published): H = 1, γ = μ;   spline: H = I, γ = β.
 * What a fit needs of its mean follows from H: where β has derivative E and information G, γ has H'E and H'GH, and the
 * least-squares move against residual sums E = Σ_i B_i'(residuals of i), with G = Σ_i G_i, is δ = H (H'GH)⁺ H'E.
 * Effects of covariates are further columns, β_i = Hγ + Σ_c z_ic H_cγ_c (`effectColumns`; models/linear/covariate-effects.ts).
 */
import { type Basis, basisDomain, grevilleAbscissae } from "../basis/bspline.ts";
import { type BasisStatistics, movedStatistics } from "../basis/statistics.ts";
import type { CovariateCoding } from "../cohort/coding.ts";
import { type Covariates, columnsWith, takeColumns } from "../covariates/covariates.ts";
import { checkOption } from "../errors.ts";
import { identity, multiply, multiplyTransposed, multiplyVector, transpose } from "../numeric/matrix.ts";
import { pseudoInverse } from "../numeric/semidefinite.ts";
import type { MeanFunction } from "./fit.ts";

export type MeanKind = MeanFunction["kind"];

export interface MeanDesign {
  readonly kind: MeanKind;
  readonly numBasis: number; // d
  /** Number of parameters γ, c. */
  readonly numColumns: number;
  /** H [d,c]. */
  readonly columns: Float64Array;
  /** Row of H for each column that is that of the identity, [c]: there β holds γ. */
  readonly pivots: readonly number[];
}

/** The design of a constant mean or of a mean curve, for a basis of d functions. */
export function meanDesign(kind: MeanKind, d: number): MeanDesign {
  const numColumns = kind === "scalar" ? 1 : d;
  const columns = new Float64Array(d * numColumns);
  for (let k = 0; k < d; k++) columns[k * numColumns + (kind === "scalar" ? 0 : k)] = 1;
  return { kind, numBasis: d, numColumns, columns, pivots: Array.from({ length: numColumns }, (_, c) => c) };
}

/** The design of several markers' means, one after another: blockdiag(H_k). */
export function stackDesigns(designs: readonly MeanDesign[]): MeanDesign {
  if (designs.length === 1) return designs[0];
  const sum = (count: (design: MeanDesign) => number) => designs.reduce((total, design) => total + count(design), 0);
  const [d, c] = [sum(({ numBasis }) => numBasis), sum(({ numColumns }) => numColumns)];
  const columns = new Float64Array(d * c);
  const pivots: number[] = [];
  let [row, column] = [0, 0];
  for (const own of designs) {
    for (let k = 0; k < own.numBasis; k++) {
      const entries = own.columns.subarray(k * own.numColumns, (k + 1) * own.numColumns);
      columns.set(entries, (row + k) * c + column);
    }
    pivots.push(...own.pivots.map((k) => row + k));
    row += own.numBasis;
    column += own.numColumns;
  }
  return { kind: designs[0].kind, numBasis: d, numColumns: c, columns, pivots };
}

/** How an effect in the mean may change with time: not at all, by a straight line, or as a curve. */
export const EFFECT_FORMS = ["level", "level-and-rate", "curve"] as const;
export type EffectForm = (typeof EFFECT_FORMS)[number];

/** H [d,h]. */
export interface EffectColumns {
  readonly columns: Float64Array;
  readonly h: number;
}

/** Covariates of individuals, and how their effects change with time. */
export interface MeanCovariates {
  readonly form: EffectForm;
  /** P. */
  readonly numCovariates: number;
  /** z [m,P], centred and scaled by whoever asks. */
  readonly covariates: Float64Array;
}

/**
 * The form of the effects in the mean of coded covariates; null where they have none.
 * @throws DtmError "option" for two forms.
 */
export function meanForm({ covariates }: CovariateCoding): EffectForm | null {
  const [form = null, other] = EFFECT_FORMS.filter((one) => covariates.some(({ effect }) => effect === one));
  const remedy = "Ask for one of them: a curve holds a level and a rate, and these hold a level.";
  checkOption(other === undefined, "covariates", "effects in the mean of one form", `${form} and ${other}`, remedy);
  return form;
}

/** The form in which a mixed model takes the covariates of a map into its mean: the map's own, or the nearest where they shift places. */
export function mixedModelForm(coding: CovariateCoding): EffectForm {
  return meanForm(coding) ?? "level-and-rate";
}

/** The covariates with effects in the mean; null where there are none. */
export function meanCovariates({ coding, values }: Pick<Covariates, "coding" | "values">): MeanCovariates | null {
  const form = meanForm(coding);
  if (form === null) return null;
  const columns = columnsWith(coding, [form]);
  return { form, numCovariates: columns.length, covariates: takeColumns(values, coding.columns.length, columns) };
}

/** Effects of P covariates in the mean. */
export interface MeanEffects {
  readonly form: EffectForm;
  readonly numCovariates: number;
  /** γ of each marker, [P,h]. */
  readonly coefficients: readonly Float64Array[];
}

/** Σ_c z_ic Hγ_c of individuals with covariates z [m,P], by which effects γ [P,h] move their coefficients, [m,d]. */
export function effectOffsets(form: EffectForm, basis: Basis, effects: Float64Array, z: Float64Array): Float64Array {
  const { columns, h } = effectColumns(form, basis);
  const d = basis.numBasis;
  const P = effects.length / h;
  return multiply(z, multiplyTransposed(effects, columns, P, h, d), z.length / P, P, d);
}

/** Statistics of values less the effects of their individuals' covariates z [m,P]. */
export function withoutEffects(
  statistics: readonly BasisStatistics[],
  { form, coefficients }: Pick<MeanEffects, "form" | "coefficients">,
  z: Float64Array,
): BasisStatistics[] {
  return statistics.map((own, k) => movedStatistics(own, effectOffsets(form, own.basis, coefficients[k], z)));
}

/**
 * The columns H [d,h] by which an effect γ moves the mean, β + Hγ: 1, or [1, (ξ − t̄)/h̄] with abscissae ξ that make B(t)ξ = t (so that
 * γ is the effect in the middle t̄ of the basis's domain and its change over half the domain h̄), or I.
 */
export function effectColumns(form: EffectForm, basis: Basis): EffectColumns {
  const d = basis.numBasis;
  if (form === "curve") return { columns: identity(d), h: d };
  if (form === "level") return { columns: new Float64Array(d).fill(1), h: 1 };
  const [from, to] = basisDomain(basis);
  const line = grevilleAbscissae(basis).map((t) => (t - (from + to) / 2) / ((to - from) / 2));
  return { columns: Float64Array.from({ length: 2 * d }, (_, e) => (e % 2 === 0 ? 1 : line[(e - 1) / 2])), h: 2 };
}

/** β = Hγ, [d]. */
export function meanCoefficients(design: MeanDesign, parameters: Float64Array): Float64Array {
  return multiplyVector(design.columns, parameters, design.numBasis, design.numColumns);
}

/** γ [c] of coefficients β = Hγ. */
export function meanParameters(design: MeanDesign, coefficients: Float64Array): Float64Array {
  return Float64Array.from(design.pivots, (k) => coefficients[k]);
}

/** H'E, [c]: the derivative by γ of what has derivative E [d] by β. */
export function designGradient({ columns, numBasis, numColumns }: MeanDesign, E: Float64Array): Float64Array {
  return multiplyVector(transpose(columns, numBasis, numColumns), E, numColumns, numBasis);
}

/** A H, [n,c], for A [n,d]. */
export function timesDesign(
  { columns, numBasis, numColumns }: MeanDesign,
  A: Float64Array,
  n = numBasis,
): Float64Array {
  return multiply(A, columns, n, numBasis, numColumns);
}

/** H'GH, [c,c]: the information on γ where β has G [d,d]. */
export function designInformation(design: MeanDesign, G: Float64Array): Float64Array {
  const { columns, numBasis: d, numColumns: c } = design;
  return multiply(transpose(columns, d, c), timesDesign(design, G), c, d, c);
}

/** δ = H (H'GH)⁺ H'E, [d]: of least norm where the observed times leave parameters open. */
export function meanShift(design: MeanDesign, G: Float64Array, E: Float64Array): Float64Array {
  const c = design.numColumns;
  const { inverse } = pseudoInverse(designInformation(design, G), c);
  return meanCoefficients(design, multiplyVector(inverse, designGradient(design, E), c, c));
}

/** Number of parameters γ that the observed times leave open. */
export function numUndetermined(design: MeanDesign, G: Float64Array): number {
  return design.numColumns - pseudoInverse(designInformation(design, G), design.numColumns).rank;
}

/** Σ_i ‖residuals‖² changes by −2δ'E + δ'Gδ where the mean moves by δ: of each marker, whose coefficients `rowMarker` [d] names. */
export function misfitChange(
  G: Float64Array,
  E: Float64Array,
  shift: Float64Array,
  rowMarker: Uint8Array = new Uint8Array(E.length),
): Float64Array {
  const d = E.length;
  const moved = multiplyVector(G, shift, d, d);
  const change = new Float64Array(rowMarker[d - 1] + 1);
  for (let k = 0; k < d; k++) change[rowMarker[k]] += shift[k] * (moved[k] - 2 * E[k]);
  return change;
}
