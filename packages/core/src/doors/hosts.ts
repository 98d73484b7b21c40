/** For programs that spread work over threads or workers: shards of a fit, tasks of a study, statistics taken once. */

export { countExceedances, type ExceedanceCounter, type MultiplierPlan } from "../associate/multipliers.ts";
export {
  type BasisStatistics,
  basisStatistics,
  type CohortStatistics,
  joinStatistics,
  mapColumns,
  numVisits,
  selectStatistics,
} from "../basis/statistics.ts";
export { evaluateFold } from "../evaluate/compare.ts";
export { type FoldResult, summarizeFolds } from "../evaluate/summarize-folds.ts";
export { prepareMarkers } from "../models/choose-noise.ts";
export { latticeNodes } from "../models/dtm/nodes.ts";
export { type MapQuestion, mapQuestion } from "../models/dtm/question.ts";
export { fitDtmStatistics, type PreparedCohortStatistics, startPrepared } from "../models/fit-models.ts";
export { modelStatistics } from "../models/new-individuals.ts";
export { embedStatistics } from "../models/place.ts";
export {
  buildStatistics,
  packShard,
  plannedStatistics,
  planText,
  readPlan,
  type StatisticsBuilder,
  type StatisticsPlan,
  type StatisticsShard,
  shardColumns,
  statisticsPlan,
} from "../models/saving/packed-statistics.ts";
export { createShardWorker } from "../models/shard-worker.ts";
export {
  type Elsewhere,
  type NodeCells,
  type ShardBlock,
  type ShardFunction,
  type ShardHost,
  type ShardRunner,
  shardBlocks,
} from "../models/shards.ts";
export { type Exchange, type SpreadOptions, type SpreadPlace, spreadShards } from "../models/spread.ts";
export { addToPairs, roundPairs } from "../numeric/pair-sum.ts";
export { type RefitPart, type ResampleTask, refitPart } from "../study/group-stability.ts";
export type { PowerPlan, PowerReplicate } from "../study/power-replicate.ts";
export { runStudyTask, type StudyTask } from "../study/tasks.ts";
