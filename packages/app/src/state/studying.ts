/** What is asked of a map: groups and their stability, outcomes, other models, single individuals, saved selections. */
import type { Comparison, TrajectoryModel } from "@trajectory-maps/core";
import { encodeFor } from "@trajectory-maps/core/ingest";
import { codingOf, type Interval, modelFor } from "@trajectory-maps/core/models";
import type { Light, PersonLike, Replay, SeveralComparison } from "@trajectory-maps/core/study";
import { outcomeName, shortNumbers } from "@trajectory-maps/report";
import type {
  CompareChoice,
  GroupChoice,
  Individual,
  IndividualAnswer,
  IndividualQuestion,
  LikeQuestion,
} from "../worker/api.ts";
import { typicalRow } from "./covariate-rows.ts";
import { type CovariateRow, type Draft, NO_DRAFT } from "./held.svelte.ts";
import { Reading } from "./reading.ts";

/** Further starts that tell whether a map depends on where the fit begins. */
const OTHER_STARTS = 2;

/** The explorer as far as it studies a map. */
export class Studying extends Reading {
  async regroup(choice: Partial<GroupChoice>): Promise<boolean> {
    const fitted = this.wholeFit;
    return this.attempt(async () => {
      this.groupChoice = { ...this.groupChoice, ...choice };
      if (fitted === null) return;
      const groups = await this.askGroups(fitted);
      if (!this.isShown(fitted)) return;
      this.wholeGroups = groups;
      this.stability = null;
      this.survival = null;
      this.groupNames = {};
      this.show({ group: null }, true);
      await this.keepNow();
    });
  }

  async studyStability(numResamples = 20): Promise<boolean> {
    return this.during("Stability", async (progress) => {
      const { wholeGroups } = this;
      const stability = await this.engine.stability(numResamples, this.groupChoice.seed, progress);
      if (this.wholeGroups === wholeGroups) this.stability = stability;
    });
  }

  async loadBaselines(): Promise<boolean> {
    if (this.baselines !== null) return true;
    const fitted = this.wholeFit;
    return this.attempt(async () => {
      const baselines = await this.engine.baselines();
      if (this.isShown(fitted)) this.baselines = baselines;
    });
  }

  async associate(draws = 9999, seed = 1): Promise<boolean> {
    return this.during("Outcomes", async (progress) => {
      const { wholeFit, outcomes } = this;
      const choice = { outcomes: this.outcomeNames, draws, seed };
      const association = await this.engine.associate(choice, (done, of, name) =>
        progress(done, of, outcomeName(name)),
      );
      // What was asked of another map or of other outcomes is not shown beside these.
      if (!this.isShown(wholeFit) || this.outcomes !== outcomes) return;
      this.association = association ?? this.association;
      await this.loadBaselines();
    });
  }

  async loadSurface(outcome: string): Promise<boolean> {
    if (this.loadedSurface?.outcome === outcome) return true;
    const fitted = this.wholeFit;
    return this.attempt(async () => {
      const surface = await this.engine.shareSurface(outcome);
      if (this.isShown(fitted)) this.loadedSurface = surface;
    });
  }

  async studySurvival(event: string, timeColumn: string, landmark?: number): Promise<boolean> {
    const { wholeGroups } = this;
    return this.attempt(async () => {
      const survival = await this.engine.survival(event, timeColumn, landmark);
      if (this.wholeGroups === wholeGroups) this.survival = survival;
    });
  }

  async compare(choice: CompareChoice): Promise<boolean> {
    return this.during("Comparison", async (progress) => {
      const { whole } = this;
      if (this.views.length > 1) {
        const several = await this.engine.compareSeveral(choice, progress);
        if (this.whole === whole) this.severalComparison = several ?? this.severalComparison;
        return;
      }
      const comparison = await this.engine.compare(choice, progress);
      if (this.whole === whole) this.comparison = comparison ?? this.comparison;
    });
  }

  /** Takes over what models were found to predict, of one marker or of several. */
  protected takeComparison(found: Comparison | SeveralComparison): void {
    if ("markers" in found) this.severalComparison = found;
    else this.comparison = found;
  }

  /** Looks for what a part of the light of trust does not know yet. */
  async checkTrust(part: Light["name"]): Promise<boolean> {
    const fitted = this.wholeFit;
    if (fitted === null) return false;
    const { kind, mapDimension } = fitted.model;
    if (part === "settled") return this.continueFit();
    if (part === "starts") {
      // A map that was opened is not this page's to fit anew: refits to parts of the individuals tell as well.
      const own = fitted.seconds > 0 && this.fitChoice.kind === "dtm" && mapDimension < 3;
      return own ? this.fit({ ...this.fitChoice, restarts: OTHER_STARTS }) : this.studyStability();
    }
    // A map with covariates is held against a mixed model with the same ones.
    const reference = codingOf(fitted.model) === undefined ? "lmm" : "lmm-covariates";
    const models = [...new Set(["population", reference, kind] as const)];
    const { mean, seed } = this.fitChoice;
    return this.compare({ models, folds: 10, mean, mapDimension: mapDimension as 1 | 2 | 3, seed });
  }

  /** Asks whether the markers share the map, unless that is known or asked: a map of each alone is fitted. */
  async judgeSharing(): Promise<boolean> {
    const fitted = this.wholeFit;
    if (fitted === null || this.views.length === 1 || this.sharing !== null) return true;
    this.sharing = "judging";
    const ok = await this.attempt(async () => {
      const sharing = await this.engine.sharing();
      if (this.isShown(fitted)) this.sharing = sharing;
    });
    if (!ok && this.isShown(fitted)) this.sharing = null;
    return ok;
  }

  async cancelTask(): Promise<void> {
    await this.engine.cancel();
  }

  /** Everything the inspector shows of an individual; `index` −1 is the draft. The marker is the chosen one unless another is named. */
  async individual(index: number, options: Omit<IndividualQuestion, keyof Individual>): Promise<IndividualAnswer> {
    return this.engine.individual({ marker: this.marker, ...this.visitsOf(index), ...options });
  }

  /** The people most like somebody, by what was known of everybody at the same time. */
  async peopleLike(question: LikeQuestion): Promise<readonly PersonLike[]> {
    return this.engine.peopleLike(question);
  }

  /** What was forecast and what came, of one individual or of some of the cohort. */
  async replay(individual: number | null): Promise<Replay> {
    return this.engine.replay(individual, this.marker);
  }

  /** Curve of one individual (known up to `knownAt`) minus that of another, at the given times, of the chosen marker. */
  async difference(
    first: number,
    second: number,
    options: { knownAt?: number; at: readonly number[] },
  ): Promise<readonly Interval[]> {
    const { marker } = this;
    const question = { ...this.visitsOf(first), ...options, marker };
    return this.engine.difference(question, { ...this.visitsOf(second), at: options.at, marker });
  }

  /** The courses of people with these covariates before anything is measured of them, of one marker. */
  async courseOf(row: CovariateRow, marker: number, at: readonly number[]): Promise<IndividualAnswer> {
    const visits = this.views.map(() => ({ times: [], values: [] }));
    return this.engine.individual({ id: "described", visits, ...this.#coded(row), marker, at, alone: true });
  }

  /** Chooses the people whose courses are shown by their covariates; null: the average. */
  describe(row: CovariateRow | null): void {
    this.described = row;
  }

  /** The model of a marker as it is for those people; where covariates shift places alone, courses at a place are everybody's. */
  asDescribed<M extends TrajectoryModel>(model: M): M {
    const moved = model.kind === "dtm" && model.effects !== undefined;
    return this.described === null || !moved ? model : modelFor(model, this.described);
  }

  /** Opens somebody new; a copy of an individual is nobody new. */
  newIndividual(): void {
    this.editDraft(this.draft.of === null ? {} : NO_DRAFT);
  }

  /** What the new individual is called: whose copy it is. */
  get draftName(): string {
    return this.draft.of === null ? "New individual" : `What if of ${this.draft.of.id}`;
  }

  /** Opens the new individual as it is described. */
  editDraft(draft: Partial<Draft>): void {
    this.draft = { ...this.draft, ...draft };
    if (this.view.individual !== -1) this.show({ individual: -1, knownAt: null, compared: null });
  }

  /** Visits of an individual, of each marker, and its covariates; `index` −1 is the draft. */
  visitsOf(index: number): Individual {
    if (index < 0 || this.whole === null) {
      const visits = this.views.map((_, k) => this.draft.visits[k] ?? { times: [], values: [] });
      return { id: "new individual", visits, ...this.#coded(this.draft.covariates) };
    }
    const { ids, markers, covariates } = this.wholeFit?.cohort ?? this.whole.cohort;
    const visits = markers.map(({ offsets, times, values, censored }) => ({
      times: Array.from(times.subarray(offsets[index], offsets[index + 1])),
      values: Array.from(values.subarray(offsets[index], offsets[index + 1])),
      ...(censored && { censored: Array.from(censored.subarray(offsets[index], offsets[index + 1])) }),
    }));
    const P = covariates?.coding.columns.length ?? 0;
    const coded = covariates?.values.slice(index * P, (index + 1) * P);
    return { id: ids[index], visits, ...(coded && { covariates: coded }) };
  }

  /** Coded covariates; what is not said is as in most of those fitted. */
  #coded(row: CovariateRow): Pick<Individual, "covariates"> {
    const coding = this.wholeFit === null ? undefined : codingOf(this.wholeFit.model);
    return coding === undefined ? {} : { covariates: encodeFor(coding, { ...typicalRow(coding), ...row }) };
  }

  /** Name of a group as shown: the user's, or the one made by rule. */
  groupName(k: number): string {
    const group = this.groups?.groups[k];
    if (group === undefined) return "";
    // Regions of a map that should not be read have no names of their own.
    const own = this.trust?.colour === "grey" ? "not named" : shortNumbers(group.name);
    return this.groupNames[group.letter] ?? own;
  }

  renameGroup(letter: string, name: string): void {
    this.groupNames = { ...this.groupNames, [letter]: name };
    void this.keepNow();
  }

  saveSelection(name: string): void {
    const { selection } = this.view;
    if (selection === null) return;
    this.saved = [...this.saved.filter((s) => s.name !== name), { name, ...selection }];
    void this.keepNow();
  }

  removeSaved(name: string): void {
    this.saved = this.saved.filter((s) => s.name !== name);
    void this.keepNow();
  }
}
