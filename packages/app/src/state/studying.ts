/** What is asked of a map: groups and their stability, outcomes, other models, single individuals, saved selections. */
import { onlyMarker } from "@trajectory-maps/core/ingest";
import type { Interval } from "@trajectory-maps/core/models";
import { shortNumbers } from "@trajectory-maps/report";
import type { CompareChoice, GroupChoice, IndividualAnswer, IndividualQuestion } from "../worker/api.ts";
import { Reading } from "./reading.ts";

/** The explorer as far as it studies a map. */
export class Studying extends Reading {
  async regroup(choice: Partial<GroupChoice>): Promise<boolean> {
    const { fitted } = this;
    return this.attempt(async () => {
      this.groupChoice = { ...this.groupChoice, ...choice };
      if (fitted === null) return;
      const groups = await this.askGroups(fitted);
      if (!this.isShown(fitted)) return;
      this.groups = groups;
      this.stability = null;
      this.survival = null;
      this.groupNames = {};
      this.show({ group: null }, true);
      await this.keepNow();
    });
  }

  async studyStability(numResamples = 20): Promise<boolean> {
    return this.during("Stability", async (progress) => {
      const { groups } = this;
      const stability = await this.engine.stability(numResamples, this.groupChoice.seed, progress);
      if (this.groups === groups) this.stability = stability;
    });
  }

  async loadBaselines(): Promise<boolean> {
    if (this.baselines !== null) return true;
    const { fitted } = this;
    return this.attempt(async () => {
      const baselines = await this.engine.baselines();
      if (this.isShown(fitted)) this.baselines = baselines;
    });
  }

  async associate(draws = 9999, seed = 1): Promise<boolean> {
    return this.during("Outcomes", async (progress) => {
      const { fitted, outcomes } = this;
      const choice = { outcomes: this.outcomeNames, draws, seed };
      const association = await this.engine.associate(choice, progress);
      // What was asked of another map or of other outcomes is not shown beside these.
      if (!this.isShown(fitted) || this.outcomes !== outcomes) return;
      this.association = association ?? this.association;
      await this.loadBaselines();
    });
  }

  async loadSurface(outcome: string): Promise<boolean> {
    if (this.surface?.outcome === outcome) return true;
    const { fitted } = this;
    return this.attempt(async () => {
      const surface = await this.engine.shareSurface(outcome);
      if (this.isShown(fitted)) this.surface = surface;
    });
  }

  async studySurvival(event: string, timeColumn: string, landmark?: number): Promise<boolean> {
    const { groups } = this;
    return this.attempt(async () => {
      const survival = await this.engine.survival(event, timeColumn, landmark);
      if (this.groups === groups) this.survival = survival;
    });
  }

  async compare(choice: CompareChoice): Promise<boolean> {
    return this.during("Comparison", async (progress) => {
      const { loaded } = this;
      const comparison = await this.engine.compare(choice, progress);
      if (this.loaded === loaded) this.comparison = comparison ?? this.comparison;
    });
  }

  async cancelTask(): Promise<void> {
    await this.engine.cancel();
  }

  /** Everything the inspector shows of an individual; `index` −1 is the draft. */
  async individual(
    index: number,
    options: Omit<IndividualQuestion, "id" | "times" | "values">,
  ): Promise<IndividualAnswer> {
    return this.engine.individual({ ...this.visitsOf(index), ...options });
  }

  /** Curve of one individual (known up to `knownAt`) minus that of another, at the given times. */
  async difference(
    first: number,
    second: number,
    options: { knownAt?: number; at: readonly number[] },
  ): Promise<readonly Interval[]> {
    const { at } = options;
    return this.engine.difference({ ...this.visitsOf(first), ...options }, { ...this.visitsOf(second), at });
  }

  /** Opens the new individual with the given visits. */
  editDraft(times: readonly number[], values: readonly number[]): void {
    this.draft = { times, values };
    if (this.view.individual !== -1) this.show({ individual: -1, knownAt: null, compared: null });
  }

  /** Visits of an individual; `index` −1 is the draft. */
  visitsOf(index: number): { id: string; times: readonly number[]; values: readonly number[] } {
    if (index < 0 || this.loaded === null) return { id: "new individual", ...this.draft };
    const { ids } = this.loaded.cohort;
    const { offsets, times, values } = onlyMarker(this.loaded.cohort);
    const [from, to] = [offsets[index], offsets[index + 1]];
    return {
      id: ids[index],
      times: Array.from(times.subarray(from, to)),
      values: Array.from(values.subarray(from, to)),
    };
  }

  /** Name of a group as shown: the user's, or the one made by rule. */
  groupName(k: number): string {
    const group = this.groups?.groups[k];
    return group === undefined ? "" : (this.groupNames[group.letter] ?? shortNumbers(group.name));
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
