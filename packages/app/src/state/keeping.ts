/** The study on disk, if the user agreed: written after every change worth it, given up where there is no room. */
import { DtmError } from "@trajectory-maps/core";
import { problemOf } from "./problem.ts";
import { Showing } from "./showing.ts";
import { claim, forget, keep, VERSION } from "./storage.ts";

/** The explorer as far as it keeps. */
export class Keeping extends Showing {
  async allowKeeping(allowed: boolean): Promise<void> {
    this.mayKeep = allowed;
    if (!allowed) return forget();
    // Without storage the next attempt to keep says so.
    await claim().catch(() => undefined);
    await this.keepNow();
  }

  /** Keeps the study as it stands, if it may. */
  protected async keepNow(): Promise<void> {
    if (!this.mayKeep || this.whole === null) return;
    this.lastKept = performance.now();
    const running = ["running", "paused", "other starts"].includes(this.fitPhase);
    try {
      const snapshot = running ? await this.engine.fitSnapshot() : null;
      // The answer may come after the user has changed their mind.
      if (!this.mayKeep || this.whole === null) return;
      await keep({
        version: VERSION,
        loaded: this.whole,
        subjects: this.subjects,
        outcomes: this.outcomeNames,
        fitted: this.wholeFit,
        running: snapshot === null ? null : { choice: this.fitChoice, snapshot, trace: this.trace },
        names: this.groupNames,
        groups: this.groupChoice,
        saved: this.saved,
      });
    } catch (error) {
      if (!this.mayKeep) return;
      this.mayKeep = false;
      if (error instanceof DtmError && error.code === "kept-elsewhere") {
        this.problem = problemOf(error);
        return;
      }
      // The study goes on without being kept; what was kept before is out of date and goes too.
      await forget();
      const reason = error instanceof Error ? error.message : String(error);
      const message = `Expected room to keep the study in this browser, received: ${reason.replace(/\.$/, "")}. It is no longer kept; export what you need.`;
      this.problem = { code: "cannot-keep", message, complaints: [] };
    }
  }
}
