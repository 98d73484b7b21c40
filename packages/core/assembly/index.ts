/**
 * The kernels of the core in WebAssembly with SIMD, compiled by scripts/build-wasm.mjs. Nothing is allocated here and
 * nothing is kept between calls: the host lays out the memory and passes byte addresses. Numbers are f64 throughout;
 * only instructions with one defined result are used (no relaxed SIMD), so every machine gives the same bits.
 */
export { layout } from "./contexts";
export { sumVisits, transformVisits, whitenVisits } from "./statistics";
export { factorPositive, invertPositive, solvePositive } from "./cholesky";
export { conditionTiles, spreadFunctional, sumNormals } from "./course";
export { fillNormals } from "./normals";
export { expectBlock, startBlock, packBlock, residualBlock, maximizeBlock } from "./expectation";
export { levelsBlock, packLevels, squaresBlock, startLevels } from "./levels";
export { expectLinear } from "./linear";
export { expectLevels, placeLevels } from "./linear-levels";
export { densityNodes, sumNodes, weighNodes } from "./placing";
export { sumLevels } from "./placing-levels";
export { addPairs, sumPairs } from "./pairs";
export { evaluateLocal, sumLocal, weighLocal } from "./local";
export { climbLocal } from "./local-ascent";
