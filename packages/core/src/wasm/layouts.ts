/**
 * The memory of the WebAssembly kernels, declared once. A layout names the whole numbers and the buffers a family of
 * kernels works on; the host's views (layout.ts) and the class `Name` in packages/core/assembly/contexts.ts, which
 * scripts/build-wasm.mjs writes, both follow from it. Lengths are numbers of entries; shapes stand beside them.
 * This file imports nothing, so that the build can read it alone.
 */

/** Length of a buffer for given sizes, by the type of its entries. */
export type BufferLength<Size extends string> =
  | { readonly f64: (n: Readonly<Record<Size, number>>) => number }
  | { readonly i32: (n: Readonly<Record<Size, number>>) => number };

export interface Layout<Size extends string, Buffers> {
  /** Name of the context's class in the assembly. */
  readonly name: string;
  /** Whole numbers at the head of the context: what lengths depend on and kernels read. */
  readonly sizes: readonly Size[];
  /** What follows: one address each. */
  readonly buffers: Buffers;
  /** Kernels that take the address of the context first. */
  readonly kernels: readonly string[];
}

function layout<
  const Size extends string,
  const Buffers extends { readonly [name: string]: BufferLength<Size> },
  const Kernel extends string,
>(
  name: string,
  sizes: readonly Size[],
  buffers: Buffers,
  kernels: readonly Kernel[],
): Layout<Size, Buffers> & { readonly kernels: readonly Kernel[] } {
  return { name, sizes, buffers, kernels };
}

/** The passes over individuals of the recommended map (assembly/expectation.ts); `block` individuals at a time. */
export const PASS = layout(
  "Pass",
  [
    ...(["numBasis", "numBand", "stride", "numTiles", "hasResidual", "block", "numTerms", "numLevels"] as const),
    ...(["rowStart", "recordStart", "recordSize"] as const), // where a marker's part of rows and of `rotated` begins
  ],
  {
    noise: { f64: () => 1 }, // σ²
    bandRow: { i32: (n) => (n.numBasis * (n.numBasis + 1)) / 2 }, // [numBand]
    bandColumn: { i32: (n) => (n.numBasis * (n.numBasis + 1)) / 2 },
    mean: { f64: (n) => n.numBasis }, // β̃ [d]
    root: { f64: (n) => n.numBasis ** 2 }, // L [d,d]
    gram: { f64: (n) => (n.block * n.numBasis * (n.numBasis + 1)) / 2 }, // [block,numBand]
    cross: { f64: (n) => n.block * n.numBasis }, // [block,d]
    squares: { f64: (n) => n.block }, // s [block]
    scratch: { f64: (n) => 2 * (5 * n.numBasis ** 2 + 3 * n.numBasis) }, // pairs: [3d² + 2d + d(2d + 1)]
    packed: { f64: (n) => n.block * n.stride }, // (g̃, G̃) [block/4][K][4]
    rests: { f64: (n) => n.block }, // ρ − ζ'ζ [block]
    diagonals: { f64: (n) => n.block * n.numBasis }, // M_kk [block/2][d][2]
    products: { f64: (n) => n.block }, // Π M_kk [block]
    table: { f64: (n) => n.numTiles * n.stride * 4 }, // [tile][K][4]
    logPrior: { f64: (n) => n.numTiles * 4 }, // [tile][4]
    weights: { f64: (n) => n.numTiles * 16 }, // [tile][4][4]
    active: { i32: (n) => n.numTiles },
    maxima: { f64: (n) => n.block }, // [block]
    sums: { f64: (n) => n.block }, // [block]
    momentsOfFour: { f64: (n) => 4 * n.stride }, // [K][4]
    nodeSums: { f64: (n) => n.numTiles * n.stride * 4 }, // [tile][K][4]
    moments: { f64: (n) => n.block * n.stride }, // [block,K]
    totals: { f64: (n) => 2 * (2 * n.numBasis + 3) }, // pairs: Σ g, Σ G E w, Σ ρ, Σ g'E w, Σ ⟨G, E ww'⟩
    placeTerms: { f64: (n) => n.block * n.numTerms }, // coefficients of first guesses of places [block/4][terms][4]
    placeTable: { f64: (n) => n.numTiles * n.numTerms * 4 }, // powers of the nodes' coordinates [tile][terms][4]
    placePrior: { f64: (n) => n.numTiles * 4 }, // 0 at nodes, −∞ beyond the last [tile][4]
    levels: { f64: (n) => n.numLevels * 5 }, // s, log p, log s, ωz, 1/s [levels][5]
    counts: { f64: (n) => n.block }, // n [block]
    squaresBefore: { f64: (n) => n.block * (1 + n.numBasis) }, // η and χ [block,1 + d]
    squaresAfter: { f64: (n) => n.block * (1 + n.numBasis) },
    directions: { f64: (n) => n.block * n.numBasis }, // δ [block,d]
    rotated: { f64: (n) => n.block * n.recordSize }, // pairs: G, V, g, a, δ, ρ of each marker
    levelSquares: { f64: (n) => 2 * (1 + n.numBasis) }, // pairs: η, χ
    levelWeights: { f64: (n) => 2 * n.numLevels }, // pairs
    levelParts: { f64: (n) => 6 * n.numLevels }, // as assembly/level-weights.ts has them [levels,3], pairs
    levelSlopes: { f64: (n) => 4 * n.numLevels }, // −2 ∂Q/∂log s and −2 ∂Q/∂log τ [levels,2], pairs
    levelShrinks: { f64: (n) => 2 * n.numLevels * n.numBasis }, // 1/(s + δ) [levels,d], pairs
    levelMaxima: { f64: (n) => n.block }, // largest E [block]
    levelSums: { f64: (n) => n.block }, // Σ exp(E − largest)/√Π [block]
  },
  [
    ...(["packBlock", "expectBlock", "startBlock", "residualBlock", "maximizeBlock"] as const),
    ...(["packLevels", "squaresBlock", "levelsBlock", "startLevels"] as const),
  ],
);

/** Sums over nodes and pairs of inducing points (assembly/pairs.ts); groups of four pairs, `numRows` even. */
export const PAIRS = layout(
  "Pairs",
  ["numInducing", "numTiles", "numRows", "numGroups"],
  {
    features: { f64: (n) => n.numInducing * n.numTiles * 4 }, // a [p,Γ]
    featuresDot: { f64: (n) => n.numInducing * n.numTiles * 4 }, // ∂a/∂log ℓ [p,Γ]
    rows: { f64: (n) => n.numRows * n.numTiles * 4 }, // of node sums or table [tile][numRows][4]
    products: { f64: (n) => n.numTiles * 16 }, // [tile][4][4]
    coefficients: { f64: (n) => n.numGroups * n.numRows * 4 }, // [group][numRows][4]
    allTiles: { i32: (n) => n.numTiles }, // 0, 1, 2, …
    pairs: { i32: (n) => n.numGroups * 8 }, // (j, l) each, −1 beyond the last
  },
  ["sumPairs", "addPairs"],
);

/** Factor, solution and inverse of a positive definite matrix (assembly/cholesky.ts); rows of `stride` entries. */
export const POSITIVE = layout(
  "Positive",
  ["order", "stride"],
  {
    matrix: { f64: (n) => (n.order + 1) * n.stride }, // A, then U
    inverse: { f64: (n) => (n.order + 1) * n.stride },
    scratch: { f64: (n) => (n.order + 1) * n.stride },
    vector: { f64: (n) => n.stride }, // b, then the solution
  },
  ["factorPositive", "solvePositive", "invertPositive"],
);

/** The local objective of the published map on a grid of rows × columns inducing points (assembly/local.ts). */
export const LOCAL = layout(
  "Local",
  ["numParameters", "rows", "columns", "numBasis", "numBand"],
  {
    theta: { f64: () => 5 },
    value: { f64: () => 1 },
    gradient: { f64: () => 5 },
    hessian: { f64: () => 25 },
    ascent: { f64: () => 15 }, // place, gradient and direction of an ascent
    slopes: { f64: () => 2 },
    squares: { f64: () => 2 }, // ℓ²
    geometry: { f64: () => 4 }, // first node [2], spacing [2]
    moments: { f64: () => 25 },
    derivatives: { f64: () => 26 },
    scratch: { f64: (n) => 20 * Math.max(n.rows, n.columns) }, // ten tables of nodes per dimension
    residual: { f64: (n) => 2 * n.numBasis }, // g, G1
    gram: { f64: (n) => n.numBand }, // band of G
    weights0: { f64: (n) => evenNodes(n.rows, n.columns) },
    weights1: { f64: (n) => evenNodes(2 * n.rows - 1, 2 * n.columns - 1) },
    values0: { f64: (n) => evenNodes(n.rows, n.columns) },
    values1: { f64: (n) => evenNodes(2 * n.rows - 1, 2 * n.columns - 1) },
    table0: { f64: (n) => n.numBasis * evenNodes(n.rows, n.columns) }, // [d][nodes]
    table1: { f64: (n) => n.numBand * evenNodes(2 * n.rows - 1, 2 * n.columns - 1) }, // [band][nodes]
    sums0: { f64: (n) => 2 * n.numBasis * evenNodes(n.rows, n.columns) }, // Σ g ψ1', Σ G1 ψ1' [2][d][nodes]
    sums1: { f64: (n) => n.numBand * evenNodes(2 * n.rows - 1, 2 * n.columns - 1) }, // Σ G Ψ2 [band][nodes]
  },
  ["weighLocal", "evaluateLocal", "climbLocal", "sumLocal"],
);

/** Nodes of a grid whose rows and columns are made even. */
function evenNodes(rows: number, columns: number): number {
  return (rows + (rows & 1)) * (columns + (columns & 1));
}

/** The E step of the linear models (assembly/linear.ts); `block` individuals at a time, scratch for two, a lane each. */
export const LINEAR = layout(
  "Linear",
  ["numBasis", "rank", "numBand", "block", "numLevels"],
  {
    noise: { f64: () => 1 }, // σ²
    bandRow: { i32: (n) => n.numBand },
    bandColumn: { i32: (n) => n.numBand },
    mean: { f64: (n) => n.numBasis }, // β̃ [d]
    factor: { f64: (n) => n.numBasis * n.rank }, // L [d,r]
    gram: { f64: (n) => n.block * n.numBand }, // [block,numBand]
    cross: { f64: (n) => n.block * n.numBasis }, // [block,d]
    squares: { f64: (n) => n.block }, // s [block]
    g: { f64: (n) => 2 * n.numBasis }, // [d][2]
    band: { f64: (n) => 2 * n.numBand }, // of G [numBand][2]
    T: { f64: (n) => 2 * n.numBasis * n.rank }, // GL [d,r][2]
    C: { f64: (n) => 2 * n.rank ** 2 }, // [r,r][2]
    z: { f64: (n) => 2 * n.rank }, // [r][2]
    moments: { f64: (n) => n.rank * (n.rank + 3) }, // pairs of E, v̂: [r(r + 1)/2 + r][2]
    determinants: { f64: (n) => n.block }, // [block]
    // As packed by models/linear/expectation.ts, [numSums][2]; the last numBand + 1 for noise with levels.
    sums: {
      f64: (n) =>
        4 +
        2 * n.numBasis * (1 + n.rank) +
        n.rank * (n.rank + 1) +
        n.rank * (n.rank + 3) * n.numBand +
        2 * (1 + n.numBand),
    },
    levels: { f64: (n) => n.numLevels * 5 }, // s, log p, log s, ωz, 1/s [levels][5]
    counts: { f64: (n) => n.block }, // n [block]
    Q: { f64: (n) => 2 * n.rank ** 2 }, // eigenvectors of L'GL [r,r][2]
    delta: { f64: (n) => 2 * n.rank }, // δ [r][2]
    levelSquares: { f64: (n) => 2 * (1 + n.rank) }, // η, χ [1 + r][2]
    levelWeights: { f64: (n) => 2 * n.numLevels }, // [levels][2]
    levelParts: { f64: (n) => 6 * n.numLevels }, // as assembly/level-weights.ts has them [levels,3][2]
    levelShrinks: { f64: (n) => 2 * n.numLevels * n.rank }, // 1/(s + δ) [levels,r][2]
    levelMaxima: { f64: (n) => n.block }, // largest E [block]
    levelSums: { f64: (n) => n.block }, // Σ exp(E − largest)/√Π [block]
    frame: { f64: (n) => 2 * (2 * n.rank ** 2 + 3 * n.rank) }, // E uu', E uu'/λ [r,r][2], E u, E u/λ and u [r][2]
    plain: { f64: (n) => n.rank * (n.rank + 1) }, // pairs of E vv' [r(r + 1)/2][2]
    posterior: { f64: (n) => (n.block * n.rank * (n.rank + 3)) / 2 }, // E v and pairs of E vv' [block,r + r(r + 1)/2]
  },
  ["expectLinear", "expectLevels", "placeLevels"],
);

/** Weights of the nodes of a mixture for one individual, and sums of `numColumns` functions of a node (assembly/placing.ts). */
export const NODES = layout(
  "Nodes",
  ["numBasis", "numPacked", "numTiles", "numColumns", "rank", "numLevels"],
  {
    covariances: { f64: (n) => n.numTiles * n.numPacked * 4 }, // Σ_g, lower triangles [tile][numPacked][4]
    means: { f64: (n) => n.numTiles * n.numBasis * 4 }, // m_g [tile][d][4]
    columns: { f64: (n) => n.numTiles * n.numColumns * 4 }, // [tile][numColumns][4]
    logPrior: { f64: (n) => n.numTiles * 4 }, // [tile][4]; −∞ beyond the last node
    heights: { f64: (n) => n.numBasis }, // h [r]
    noise: { f64: (n) => n.numPacked }, // N, packed rows [r(r+1)/2]
    floors: { f64: (n) => n.numBasis }, // pivots of N [r]
    ends: { i32: (n) => n.numBasis + n.numPacked }, // bytes: where the terms of each entry of e and V end, row by row, e first
    offsets: { i32: (n) => n.numPacked ** 2 + n.numBasis ** 2 }, // bytes: each term within a tile of means or covariances
    terms: { f64: (n) => n.numPacked ** 2 + n.numBasis ** 2 }, // coefficient of each term
    factor: { f64: (n) => 4 * n.numPacked }, // L of V = LDL', packed rows, 1/D on the diagonal [r(r+1)/2][4]
    residuals: { f64: (n) => 4 * n.numBasis }, // L⁻¹e [r][4]
    solved: { f64: (n) => n.numTiles * n.numBasis * 4 }, // V⁻¹e [tile][r][4]
    weights: { f64: (n) => n.numTiles * 4 }, // [tile][4]
    scales: { f64: (n) => n.numTiles * 4 }, // [tile][4]
    active: { i32: (n) => n.numTiles }, // tiles with any weight
    totals: { f64: () => 3 }, // largest exponent, Σ weights, Σ kept weights
    sums: { f64: (n) => n.numColumns + n.numBasis * n.numPacked }, // of columns, then [r][numPacked]
    // Noise of several levels (assembly/placing-levels.ts).
    levels: { f64: (n) => 2 * n.numLevels }, // λ and the logarithm of what it counts, times λ^{r/2} [levels][2]
    bordered: { f64: (n) => 4 * (n.numBasis + 1) ** 2 }, // [0 e'; e FΣF'] [r + 1,r + 1][4]
    products: { f64: (n) => 4 * (n.numBasis + 1) }, // [r + 1][4]
    reflections: { f64: (n) => 4 * n.numBasis }, // 2/v'v of each [r][4]
    diagonal: { f64: (n) => 4 * n.numBasis }, // α [r][4]
    beside: { f64: (n) => 4 * n.numBasis }, // β [r][4]
    squares: { f64: (n) => 4 * n.numBasis }, // β² [r][4]
    minors: { f64: (n) => 4 * n.numLevels * n.numBasis }, // 1/D_1 and D_2 to D_r [levels,r][4]
    exponents: { f64: (n) => 4 * n.numLevels }, // log densities at each level, but for
    factors: { f64: (n) => 4 * n.numLevels }, // these factors [levels][4]
    parts: { f64: (n) => 4 * n.numTiles * n.numLevels }, // of `nodeTotals`, from each level [tile][levels][4]
    nodeTotals: { f64: (n) => 4 * n.numTiles }, // [tile][4]
    levelSums: { f64: (n) => n.numLevels }, // Σ weights of each level
  },
  ["weighNodes", "densityNodes", "sumLevels", "sumNodes"],
);

/** The curve of one individual over nodes with weight, a tile once for each of its noise levels (assembly/course.ts): moments, and distributions of functionals. */
export const COURSE = layout(
  "Course",
  ["numBasis", "numTiles", "numActive"],
  {
    factors: { f64: (n) => n.numTiles * n.numBasis ** 2 * 4 }, // L_g [tile][d,d][4]
    means: { f64: (n) => n.numTiles * n.numBasis * 4 }, // m_g [tile][d][4]
    gram: { f64: (n) => n.numBasis ** 2 }, // G [d,d]
    cross: { f64: (n) => n.numBasis }, // g [d]
    scratch: { f64: (n) => 4 * (3 * n.numBasis ** 2 + 2 * n.numBasis) }, // two of pairs
    active: { i32: (n) => n.numActive }, // tiles with any weight, each once for every level, one after the other
    noises: { f64: (n) => n.numActive }, // s, the noise variance of each
    moments: { f64: (n) => n.numActive * (n.numBasis + (n.numBasis * (n.numBasis + 1)) / 2) * 4 }, // by active tile
    row: { f64: (n) => n.numBasis }, // b [d]
    weights: { f64: (n) => n.numActive * 4 }, // components of the functional's distribution, by active tile
    centers: { f64: (n) => n.numActive * 4 }, // their means
    deviations: { f64: (n) => n.numActive * 4 },
    inverses: { f64: (n) => n.numActive * 4 }, // 1/deviation
    normalTable: { f64: () => 1025 * 6 }, // of Φ, once by fillNormals
    sums: { f64: () => 2 }, // distribution function and density
  },
  ["fillNormals", "conditionTiles", "spreadFunctional", "sumNormals"],
);

/** From visits to statistics (assembly/statistics.ts); `block` individuals with `numVisits` visits at most at a time. */
export const VISITS = layout(
  "Visits",
  ["numBasis", "degree", "numBand", "block", "numVisits", "transform"],
  {
    knots: { f64: (n) => n.numBasis + n.degree + 1 }, // full clamped knot vector
    center: { f64: () => 1 }, // subtracted from values
    correlation: { f64: () => 2 }, // ρ, κ
    offsets: { i32: (n) => n.block + 1 }, // where the visits of each individual begin, and the last end
    times: { f64: (n) => n.numVisits }, // in order of time within an individual
    values: { f64: (n) => n.numVisits }, // as measured, or on the scale of the model
    active: { f64: (n) => n.degree + 1 }, // splines at a time
    row: { f64: (n) => n.numBasis + 1 }, // z, then e
    state: { f64: (n) => n.numBasis + 1 }, // m
    gram: { f64: (n) => n.block * n.numBand }, // band of G, or all pairs k ≤ l [block,numBand]
    cross: { f64: (n) => n.block * n.numBasis }, // c [block,d]
    squares: { f64: (n) => n.block }, // s [block]
    logDets: { f64: (n) => n.block }, // log|R| [block]
  },
  ["transformVisits", "sumVisits", "whitenVisits"],
);

/** Every layout, for the build; the position of each is its kind in the module's `layout`. */
export const LAYOUTS: readonly {
  readonly name: string;
  readonly sizes: readonly string[];
  readonly buffers: { readonly [name: string]: { f64: (n: never) => number } | { i32: (n: never) => number } };
  readonly kernels: readonly string[];
}[] = [PASS, PAIRS, POSITIVE, LOCAL, LINEAR, NODES, COURSE, VISITS];
