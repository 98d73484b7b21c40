/**
 * fixtures/kde/*.json (R's ks::kde.test: bandwidths, statistic, z and p) and kde_test.json (the statistic with given
 * bandwidths). Tolerances are those of fixtures/kde/README.md. Two of ks's shortcuts make single numbers loose: it
 * interpolates the density gradient on a grid (var, z) and bins large samples before it selects their bandwidth.
 */
import { type Bandwidth, selectBandwidth } from "../../packages/core/src/associate/bandwidth.ts";
import { type DensitySlope, type KdeTest, kdeTest } from "../../packages/core/src/associate/kde-test.ts";
import { describeSample } from "../../packages/core/src/associate/sample.ts";
import { normalCdf } from "../../packages/core/src/numeric/special.ts";
import { type Check, compare, compareAbsolute, flatten, type Nested } from "./checker.ts";

interface SlopeFixture {
  readonly bandwidth: Nested;
  readonly gradient: Nested;
  readonly var: number;
}

interface SummaryFixture {
  readonly Tstat: number;
  readonly mean: number;
  readonly var: number;
  readonly zstat: number;
  readonly pvalue: number;
}

interface SelectorFixture {
  readonly sd?: number;
  readonly pilot_g?: number;
  readonly psi2?: number;
  readonly h?: number;
  readonly cov?: Nested;
  readonly pilot_h?: number;
  readonly psi2_sphered?: Nested;
  readonly H_bfgs?: Nested;
  readonly H_isotropic_closed_form?: Nested;
}

export interface KdeFixture {
  readonly dimension: number;
  readonly x1: Nested;
  readonly x2: Nested;
  readonly ks: SummaryFixture & {
    readonly H1?: Nested;
    readonly H2?: Nested;
    readonly h1?: number;
    readonly h2?: number;
    readonly psi1: number;
    readonly psi2: number;
    readonly psi12: number;
    readonly psi21: number;
  };
  readonly exact_gradient: SummaryFixture & { readonly group1: SlopeFixture; readonly group2: SlopeFixture };
  readonly selector: { readonly group1: SelectorFixture; readonly group2: SelectorFixture };
  readonly isotropic_closed_form?: SummaryFixture;
}

/** Sizes above which ks selects bandwidths from binned counts, by dimension. */
const BINNED_ABOVE = [Number.POSITIVE_INFINITY, 500, 1000];
/** A binned selector moves H by about 0.5 %, T and mean by about 0.2 %. */
const BINNED = 1e-2;
/** How far ks's interpolated gradient may move var, by dimension; z moves half as far. */
const GRADIENT_GRID = [1e-2, 5e-2, 13e-2];
/** p-values below this underflow. */
const UNDERFLOW = 1e-300;

/** Checks one case of fixtures/kde. */
export function checkKde(fixture: KdeFixture): Check[] {
  const { dimension: d, ks, exact_gradient: exact, selector } = fixture;
  const tolerance = d === 1 ? 1e-10 : 1e-9;
  const x1 = flatten(fixture.x1);
  const x2 = flatten(fixture.x2);
  const samples = [describeSample(x1, d), describeSample(x2, d)];
  const binned = samples.map(({ n }) => n > (BINNED_ABOVE[d - 1] ?? Number.POSITIVE_INFINITY));
  const own = samples.map((sample) => selectBandwidth(sample, "ks"));
  const given = (d === 1 ? [ks.h1!, ks.h2!].map((h) => Float64Array.of(h * h)) : [ks.H1!, ks.H2!].map(flatten)) as [
    Float64Array,
    Float64Array,
  ];
  const checks: Check[] = [];
  for (const [k, name] of (["group1", "group2"] as const).entries()) {
    const isotropic = selectBandwidth(samples[k], "closed-form");
    checks.push(
      ...selectorChecks(`selector.${name}`, selector[name], own[k], isotropic, samples[k].covariance, tolerance),
    );
    checks.push(compare(`ks.H${k + 1}`, own[k].matrix, [...given[k]], binned[k] ? BINNED : tolerance));
  }
  // With ks's own bandwidths everything but its gradient is tight, binned or not.
  const atGiven = kdeTest(x1, x2, d, { bandwidth: given });
  checks.push(
    compare("ks.psi1", atGiven.psi1, ks.psi1, tolerance),
    compare("ks.psi2", atGiven.psi2, ks.psi2, tolerance),
    compare("ks.psi12", atGiven.psi12, ks.psi12, tolerance),
    compare("ks.psi21", atGiven.psi21, ks.psi21, tolerance),
    ...summaryChecks("exact_gradient", atGiven, exact, tolerance),
    ...slopeChecks("exact_gradient.group1", atGiven.slope1, exact.group1, d, tolerance),
    ...slopeChecks("exact_gradient.group2", atGiven.slope2, exact.group2, d, tolerance),
    compare("ks.Tstat", atGiven.statistic, ks.Tstat, tolerance),
    compare("ks.mean", atGiven.nullMean, ks.mean, tolerance),
    compare("ks.var", atGiven.nullVariance, ks.var, GRADIENT_GRID[d - 1]),
    compare("ks.zstat", atGiven.z, ks.zstat, GRADIENT_GRID[d - 1]),
    // ks takes 1 − Φ(z) literally, so that only absolute digits are left in the tail.
    compareAbsolute("ks.pvalue of ks.zstat", normalCdf(-ks.zstat), ks.pvalue, 1e-12),
  );
  const whole = kdeTest(x1, x2, d);
  if (binned.some(Boolean)) {
    checks.push(
      compare("T by own bandwidths", whole.statistic, ks.Tstat, BINNED),
      compare("mean by own bandwidths", whole.nullMean, ks.mean, BINNED),
      compareAbsolute("z by own bandwidths", whole.z, exact.zstat, BINNED),
    );
  } else {
    checks.push(...summaryChecks("by own bandwidths", whole, exact, tolerance));
  }
  if (fixture.isotropic_closed_form !== undefined) {
    const closed = kdeTest(x1, x2, d, { bandwidth: "closed-form" });
    checks.push(...summaryChecks("isotropic_closed_form", closed, fixture.isotropic_closed_form, tolerance));
  }
  return checks;
}

function selectorChecks(
  name: string,
  fixture: SelectorFixture,
  own: Bandwidth,
  isotropic: Bandwidth,
  covariance: Float64Array,
  tolerance: number,
): Check[] {
  const expected: readonly (readonly [string, Nested | Float64Array, Nested | undefined])[] = [
    ["sd", Math.sqrt(covariance[0]), fixture.sd],
    ["pilot_g", own.pilot, fixture.pilot_g],
    ["psi2", own.functional, fixture.psi2 === undefined ? undefined : [fixture.psi2]],
    ["h", Math.sqrt(own.matrix[0]), fixture.h],
    ["cov", covariance, fixture.cov],
    ["pilot_h", own.pilot, fixture.pilot_h],
    ["psi2_sphered", own.functional, fixture.psi2_sphered],
    ["H_bfgs", own.matrix, fixture.H_bfgs],
    ["H_isotropic_closed_form", isotropic.matrix, fixture.H_isotropic_closed_form],
  ];
  return expected.flatMap(([field, actual, value]) =>
    value === undefined ? [] : [compare(`${name}.${field}`, actual, value, tolerance)],
  );
}

function summaryChecks(name: string, actual: KdeTest, expected: SummaryFixture, tolerance: number): Check[] {
  return [
    compare(`${name}.Tstat`, actual.statistic, expected.Tstat, tolerance),
    compare(`${name}.mean`, actual.nullMean, expected.mean, tolerance),
    compare(`${name}.var`, actual.nullVariance, expected.var, tolerance),
    compare(`${name}.zstat`, actual.z, expected.zstat, tolerance),
    comparePValue(`${name}.pvalue`, actual.pValue, expected.pvalue, tolerance),
  ];
}

/** In one dimension the fixture holds widths and slopes as single numbers, the width as a standard deviation. */
function slopeChecks(
  name: string,
  actual: DensitySlope,
  expected: SlopeFixture,
  d: number,
  tolerance: number,
): Check[] {
  const bandwidth = d === 1 ? Math.sqrt(actual.bandwidth[0]) : actual.bandwidth;
  return [
    compare(`${name}.bandwidth`, bandwidth, expected.bandwidth, tolerance),
    compare(`${name}.gradient`, actual.gradient, expected.gradient, tolerance),
    compare(`${name}.var`, actual.variance, expected.var, tolerance),
  ];
}

/** Relative, but two p-values that underflow are equal. */
function comparePValue(name: string, actual: number, expected: number, tolerance: number): Check {
  if (expected < UNDERFLOW && actual < UNDERFLOW) return { name, error: 0, tolerance };
  return compare(name, actual, expected, tolerance);
}

interface KdeIndex {
  readonly cases: readonly {
    readonly file: string;
    readonly Tstat: number;
    readonly mean: number;
    readonly exact_var: number;
    readonly exact_zstat: number;
    readonly exact_pvalue: number;
  }[];
}

/** The list of cases holds no samples; what it lists must hang together by z = (T − mean)/√var and p = 1 − Φ(z). */
export function checkKdeIndex(fixture: KdeIndex): Check[] {
  return fixture.cases.flatMap((c) => {
    const z = (c.Tstat - c.mean) / Math.sqrt(c.exact_var);
    return [
      compare(`${c.file}: z`, z, c.exact_zstat, 1e-9),
      comparePValue(`${c.file}: p`, normalCdf(-c.exact_zstat), c.exact_pvalue, 1e-9),
    ];
  });
}

interface KdeTestFixture {
  readonly cases: readonly {
    readonly x1: Nested;
    readonly x2: Nested;
    readonly H1: readonly Nested[];
    readonly H2: Nested;
    readonly exact: {
      readonly psi1: number;
      readonly psi2: number;
      readonly psi12: number;
      readonly psi21: number;
      readonly T: number;
      readonly mean: number;
      readonly v1: number;
      readonly v2: number;
      readonly var: number;
      readonly z: number;
      readonly p: number;
    };
  }[];
}

/** Checks kde_test.json: every intermediate with H₁, H₂ given. */
export function checkKdeTest(fixture: KdeTestFixture): Check[] {
  return fixture.cases.flatMap(({ x1, x2, H1, H2, exact }, index) => {
    const actual = kdeTest(flatten(x1), flatten(x2), H1.length, { bandwidth: [flatten(H1), flatten(H2)] });
    const name = `case ${index}`;
    return [
      compare(`${name}: psi1`, actual.psi1, exact.psi1),
      compare(`${name}: psi2`, actual.psi2, exact.psi2),
      compare(`${name}: psi12`, actual.psi12, exact.psi12),
      compare(`${name}: psi21`, actual.psi21, exact.psi21),
      compare(`${name}: T`, actual.statistic, exact.T),
      compare(`${name}: mean`, actual.nullMean, exact.mean),
      compare(`${name}: v1`, actual.slope1.variance, exact.v1),
      compare(`${name}: v2`, actual.slope2.variance, exact.v2),
      compare(`${name}: var`, actual.nullVariance, exact.var),
      compare(`${name}: z`, actual.z, exact.z),
      compare(`${name}: p`, actual.pValue, exact.p),
    ];
  });
}
