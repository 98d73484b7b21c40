import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRandom } from "../../core/src/numeric/random.ts";
import {
  type Curve,
  drawnAt,
  eventTotals,
  shareCurves,
  survivalAt,
  type ToldTimes,
  toldAt,
} from "./figures/shared-curve.ts";
import {
  cellsOf,
  coverRounded,
  isCount,
  markCells,
  rough,
  roughCount,
  roughRange,
  sharesOf,
  shareText,
  WITHHELD,
} from "./small-cells.ts";

const LIMIT = 4;

/** What a mark lets a count be, up to a total. */
function allowed(text: string, total: number, limit: number): number[] {
  const all = Array.from({ length: total + 1 }, (_, n) => n);
  if (text === WITHHELD) return all;
  if (text.startsWith("<")) return all.filter((n) => n >= 1 && n < limit);
  if (text.startsWith("≥")) return all.filter((n) => n >= limit);
  return [Number(text.replace(/,/g, ""))];
}

/** Every value that each part can have, by trying all that fit the marks and the total. */
function possible(texts: readonly string[], total: number, limit: number): Set<number>[] {
  const found = texts.map(() => new Set<number>());
  const options = texts.map((text) => allowed(text, total, limit));
  const walk = (k: number, left: number, chosen: number[]) => {
    if (k === texts.length) {
      if (left === 0)
        chosen.forEach((n, j) => {
          found[j].add(n);
        });
      return;
    }
    for (const n of options[k]) if (n <= left) walk(k + 1, left - n, [...chosen, n]);
  };
  walk(0, total, []);
  return found;
}

describe("parts of a known total", () => {
  const counts = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 5 });

  it("never give a small count away: every value that its mark allows stays possible", () => {
    fc.assert(
      fc.property(counts, (list) => {
        const total = list.reduce((sum, n) => sum + n, 0);
        // A small total is itself held back.
        if (total < LIMIT) return;
        const texts = cellsOf(list, LIMIT);
        const values = possible(texts, total, LIMIT);
        list.forEach((n, k) => {
          expect(values[k].has(n)).toBe(true);
          if (n === 0 || n >= LIMIT) return;
          expect(isCount(texts[k])).toBe(false);
          expect(values[k].size).toBeGreaterThanOrEqual(texts[k] === WITHHELD ? 2 : LIMIT - 1);
        });
      }),
    );
  });

  it("hold back nothing where nothing is small, and everything is shown with limit 1", () => {
    expect(cellsOf([50, 60, 0], 11)).toEqual(["50", "60", "0"]);
    expect(cellsOf([1, 2, 0], 1)).toEqual(["1", "2", "0"]);
  });

  it("hold back a second part, and one more where the bounds of two would meet", () => {
    expect(cellsOf([5, 195, 0], 11)).toEqual(["<11", "≥11", "0"]);
    expect(cellsOf([5, 6, 200], 11)).toEqual(["<11", "<11", "200"]);
    // 1 + 1 is 2, and 10 + 10 is 20: two small counts alone can be told from their sum.
    expect(cellsOf([1, 1, 40, 90], 11)).toEqual(["<11", "<11", "≥11", "90"]);
    expect(cellsOf([10, 10, 40, 90], 11)).toEqual(["<11", "<11", "≥11", "90"]);
    // 1 + 11 is 12: a part just above the limit is no cover.
    expect(cellsOf([1, 11, 90], 11)).toEqual(["<11", "11", "≥11"]);
    expect(cellsOf([1, 11], 11)).toEqual([WITHHELD, WITHHELD]);
  });

  it("never use as cover what stands elsewhere", () => {
    expect(cellsOf([5, 30, 90], 11, [1])).toEqual(["<11", "30", "≥11"]);
    fc.assert(
      fc.property(counts, (list) => {
        expect(cellsOf(list, LIMIT, [0])[0]).not.toBe(`≥${LIMIT}`);
      }),
    );
  });

  it("marks only counts that are small, or cover for one", () => {
    const cells = [3, 80, 20].map((value) => ({
      value,
      sensitive: value < 11 ? ([1, 10] as const) : null,
      cover: [11, 1000] as const,
    }));
    expect(markCells(cells)).toEqual(["sensitive", "shown", "cover"]);
  });
});

describe("the cover of small counts", () => {
  it("is one larger count where it takes several smaller ones", () => {
    // Hidden smallest first, both 33s would go, since neither group is large enough to cover 9 alone.
    const shares = sharesOf([9, 33, 33, 70], [40, 50, 50, 160], 11);
    expect(shares.map(({ text }) => text)).toEqual(["under 28%", "66%", "66%", WITHHELD]);
  });

  it("loses least: no safe set has fewer counts, or as many with a smaller sum", () => {
    const cell = fc.record({ value: fc.integer({ min: 0, max: 9 }), slack: fc.integer({ min: 0, max: 6 }) });
    fc.assert(
      fc.property(fc.array(cell, { minLength: 2, maxLength: 6 }), (list) => {
        const cells = list.map(({ value, slack }) => ({
          value,
          sensitive: value > 0 && value < LIMIT ? ([1, LIMIT - 1] as const) : null,
          cover: [Math.min(LIMIT, value), value + slack] as const,
        }));
        const marks = markCells(cells);
        if (!marks.includes("sensitive") || !marks.includes("cover")) return;
        const hiddenBy = (set: readonly number[]) =>
          cells.map(
            ({ sensitive, cover }, k) => (sensitive ?? (set.includes(k) ? cover : null)) as [number, number] | null,
          );
        // By trying all values: every sensitive count keeps all that its mark says.
        const keeps = (set: readonly number[]) => {
          const bounds = hiddenBy(set);
          const sum = cells.reduce((s, { value }, k) => s + (bounds[k] === null ? 0 : value), 0);
          return cells.every(({ sensitive }, i) => {
            if (sensitive === null) return true;
            return [sensitive[0], sensitive[1]].every((at) => {
              const others = bounds.filter((b, k) => b !== null && k !== i) as [number, number][];
              const low = others.reduce((s, [l]) => s + l, 0);
              const high = others.reduce((s, [, u]) => s + u, 0);
              return sum - at >= low && sum - at <= high;
            });
          });
        };
        const chosen = marks.flatMap((mark, k) => (mark === "cover" ? [k] : []));
        const loss = (set: readonly number[]) => set.length * 1000 + set.reduce((s, k) => s + cells[k].value, 0);
        expect(keeps(chosen)).toBe(true);
        const free = cells.flatMap(({ sensitive, value }, k) => (sensitive === null && value > 0 ? [k] : []));
        for (let bits = 0; bits < 1 << free.length; bits++) {
          const set = free.filter((_, j) => (bits >> j) & 1);
          if (loss(set) < loss(chosen)) expect(keeps(set)).toBe(false);
        }
      }),
    );
  });
});

describe("shares by group", () => {
  it("are bounds where cases or the others are few, with cover from a second group", () => {
    const shares = sharesOf([7, 40, 30], [50, 80, 60], 11);
    expect(shares.map(({ text }) => text)).toEqual(["under 22%", "50%", WITHHELD]);
    expect(sharesOf([18, 60], [19, 100], 11).map(({ text }) => text)).toEqual(["over 42%", WITHHELD]);
    expect(sharesOf([40, 30], [80, 60], 11)[0]).toEqual({ text: "50%", range: "(95% CI 39 to 61)" });
    expect(sharesOf([2], [9], 11)[0].text).toBe("–");
  });

  it("never let a small number of cases, or of others, be worked out from all cases together", () => {
    const group = fc
      .integer({ min: LIMIT, max: 12 })
      .chain((known) => fc.tuple(fc.integer({ min: 0, max: known }), fc.constant(known)));
    fc.assert(
      fc.property(fc.array(group, { minLength: 2, maxLength: 4 }), (groups) => {
        const cases = groups.map(([n]) => n);
        const total = cases.reduce((sum, n) => sum + n, 0);
        const shares = sharesOf(
          cases,
          groups.map(([, known]) => known),
          LIMIT,
        );
        const options = groups.map(([n, known], k) => {
          const every = Array.from({ length: known + 1 }, (_, value) => value);
          const { text } = shares[k];
          if (text.startsWith("under")) return every.filter((value) => value < LIMIT);
          if (text.startsWith("over")) return every.filter((value) => known - value < LIMIT);
          return text === WITHHELD ? every : [n];
        });
        // Sums that the other groups can have, to find which values of group k fit the total.
        const reach = (skip: number) => {
          let sums = new Set([0]);
          for (const values of options.filter((_, k) => k !== skip)) {
            sums = new Set(Array.from(sums).flatMap((sum) => values.map((v) => sum + v)));
          }
          return sums;
        };
        groups.forEach(([n, known], k) => {
          const sensitive = (n > 0 && n < LIMIT) || (n < known && known - n < LIMIT);
          if (!sensitive) return;
          const sums = reach(k);
          expect(options[k].filter((value) => sums.has(total - value)).length).toBeGreaterThan(1);
        });
      }),
    );
  });

  it("of everyone are bounds where few are meant", () => {
    expect(shareText(3, 312, 11)).toBe("under 4%");
    expect(shareText(310, 312, 11)).toBe("over 96%");
    expect(shareText(156, 312, 11)).toBe("50%");
    expect(shareText(0, 312, 11)).toBe("0%");
  });
});

describe("counts that follow each other", () => {
  it("are rounded to fives, so that no small difference can be read", () => {
    expect([0, 4, 11, 12, 13, 78, 81].map((n) => rough(n, 11))).toEqual(["0", "<11", "11", "11", "15", "80", "80"]);
    expect(rough(78, 1)).toBe("78");
    fc.assert(
      fc.property(fc.integer({ min: 11, max: 5000 }), fc.integer({ min: 1, max: 2 }), (n, fewer) => {
        // One or two people less may look like none or like five.
        expect([0, 1, 4, 5]).toContain(roughCount(n + fewer, 11) - roughCount(n, 11));
      }),
    );
  });

  const drawn = (curve: Curve, limit = 11) => {
    const [shared] = shareCurves([curve], [eventTotals(curve)], { times: [] }, limit);
    return (t: number) => drawnAt(shared!, t);
  };

  it("a shared survival curve is straight between points five events apart, and near the true one", () => {
    // 40 at risk, one event at each of the times 1 to 12.
    const times = Array.from({ length: 12 }, (_, j) => j + 1);
    const survival = times.map((t) => (40 - t) / 40);
    const atRisk = times.map((t) => 41 - t);
    const curve = {
      group: 0,
      numIndividuals: 40,
      numEvents: 12,
      times,
      survival,
      lower: survival,
      upper: survival,
      atRisk,
    };
    const shared = [0.5, 1, 3, 5, 8.5, 12, 12.5].map(drawn(curve));
    // Twelve events in two parts of six: points at the first (S = 1 before it), the sixth and the twelfth.
    const expected = [1, 1, 1 - (6 / 40) * (2 / 5), 1 - (6 / 40) * (4 / 5), 31.5 / 40, 28 / 40, 28 / 40];
    for (const [k, value] of expected.entries()) expect(shared[k].survival).toBeCloseTo(value, 12);
    expect(shared.map((p) => p.noEvent)).toEqual([true, false, false, false, false, false, false]);
    expect(shared.some((p) => p.fewEvents)).toBe(false);
    // Held until five have come it would be off by up to five events.
    for (let t = 1; t <= 12; t += 0.25) {
      expect(Math.abs(drawn(curve)(t).survival - survivalAt(curve, t).survival)).toBeLessThan(1.01 / 40);
    }
    const few = { ...curve, times: times.slice(0, 4), survival: survival.slice(0, 4), atRisk: atRisk.slice(0, 4) };
    expect([0.5, 1, 3].map((t) => drawn(few)(t).fewEvents)).toEqual([false, true, true]);
    expect(drawn(few)(3).survival).toBeNaN();
    expect(drawn(curve, 1)(7)).toMatchObject(survivalAt(curve, 7));
  });

  it("a shared survival curve has five events or more between its corners, ties included", () => {
    const event = fc.record({ gap: fc.integer({ min: 1, max: 3 }), events: fc.integer({ min: 0, max: 4 }) });
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 30 }), (steps) => {
        const n = 150;
        let [time, total, S] = [0, 0, 1];
        const rows = steps.map(({ gap, events }) => {
          const atRisk = n - total;
          time += gap;
          total += events;
          S *= 1 - events / atRisk;
          return { time, atRisk, total, S };
        });
        const curve = {
          group: 0,
          numIndividuals: n,
          numEvents: total,
          times: rows.map((r) => r.time),
          survival: rows.map((r) => r.S),
          lower: rows.map((r) => r.S),
          upper: rows.map((r) => r.S),
          atRisk: rows.map((r) => r.atRisk),
        };
        const point = drawn(curve);
        const shown = rows.map((r) => point(r.time));
        // Corners are where the slope changes; between them lie five events or more.
        const corners = rows.filter((_, k) => {
          if (k === 0 || k === rows.length - 1 || rows[k - 1].total === 0) return false;
          const slope = (i: number) => (shown[i + 1].survival - shown[i].survival) / (rows[i + 1].time - rows[i].time);
          return Math.abs(slope(k) - slope(k - 1)) > 1e-9;
        });
        for (let k = 1; k < corners.length; k++)
          expect(corners[k].total - corners[k - 1].total).toBeGreaterThanOrEqual(5);
        if (total < 5) expect(shown.every((p) => p.noEvent || p.fewEvents)).toBe(true);
        else expect(shown[shown.length - 1].survival).toBeCloseTo(S, 12);
      }),
    );
  });
});

describe("tables of shared survival curves", () => {
  const fromEvents = (n: number, events: readonly number[], group = 0): Curve => {
    let [left, S] = [n, 1];
    const atRisk: number[] = [];
    const survival = events.map((d) => {
      atRisk.push(left);
      S *= 1 - d / left;
      left -= d;
      return S;
    });
    const times = events.map((_, j) => j + 1);
    // Bounds that no straight line between points gives.
    const [lower, upper] = [survival.map((s) => s ** 2), survival.map((s) => Math.sqrt(s))];
    return { group, numIndividuals: n, numEvents: n - left, times, atRisk, survival, lower, upper };
  };
  const share = (curves: readonly Curve[], told: ToldTimes, limit = 11) =>
    shareCurves(curves, curves.map(eventTotals), told, limit);

  it("hold the exact value with its interval, and the figure passes through it", () => {
    // 8, 20 and 23 events until 4, 10 and 12.
    const curve = fromEvents(60, [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 2]);
    const [shared] = share([curve], { times: [4, 10, 12, 1] });
    const rows = [4, 10, 12, 1, 7].map((t) => toldAt(shared!, t));
    expect(rows.map(({ told }) => told)).toEqual(["value", "withheld", "value", "few events", "withheld"]);
    expect(rows[0]).toMatchObject(survivalAt(curve, 4));
    expect(rows[2]).toMatchObject(survivalAt(curve, 12));
    expect(drawnAt(shared!, 4)).toMatchObject(survivalAt(curve, 4));
    // Whoever owns the data sees all.
    const [own] = share([curve], { times: [4] }, 1);
    expect([4, 7, 10].map((t) => toldAt(own!, t).told)).toEqual(["value", "value", "value"]);
    expect(toldAt(own!, 7)).toMatchObject(survivalAt(curve, 7));
  });

  it("tell of 1 to 4 events neither between each other nor beside the points of the figure", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 30 });
    const times = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 6 });
    let numTold = 0;
    fc.assert(
      fc.property(steps, times, (events, asked) => {
        const curve = fromEvents(150, events);
        const [shared] = share([curve], { times: asked });
        const total = (t: number) => events.slice(0, t).reduce((sum, d) => sum + d, 0);
        const told = asked.filter((t) => toldAt(shared!, t).told === "value");
        numTold += told.length;
        const known = [0, ...shared!.corners, ...told.map(total)].sort((a, b) => a - b);
        for (let k = 1; k < known.length; k++) {
          const between = known[k]! - known[k - 1]!;
          expect(between === 0 || between >= 5).toBe(true);
        }
        for (const t of told) {
          expect(toldAt(shared!, t)).toMatchObject(survivalAt(curve, t));
          if (t > shared!.knots[0]!.time)
            expect(drawnAt(shared!, t).survival).toBeCloseTo(survivalAt(curve, t).survival, 12);
        }
      }),
      { numRuns: 500 },
    );
    // About 30 in 100 runs: the checks above were not all of nothing.
    expect(numTold).toBeGreaterThan(50);
  });

  it("hold back a second group where one that is held back were everyone less the others", () => {
    const few = fromEvents(40, [3, 5], 0);
    const [many, most] = [fromEvents(40, [6, 5], 1), fromEvents(40, [9, 5], 2)];
    const why = (told: ToldTimes) => share([few, many, most], told).map((own) => toldAt(own, 1).told);
    expect(why({ times: [1, 2] })).toEqual(["few events", "value", "value"]);
    expect(why({ times: [1, 2], sums: [1] })).toEqual(["few events", "withheld", "value"]);
    // Where nothing is held back everyone gives nothing away.
    const whole = share([many, most], { times: [1, 2], sums: [1, 2] });
    expect(whole.flatMap((own) => [1, 2].map((t) => toldAt(own, t).told))).toEqual(Array(4).fill("value"));
  });
});

describe("a table rounded to fives", () => {
  const shown = (counts: readonly (readonly number[])[]) => {
    const totals = counts.map((row) => row.reduce((sum, n) => sum + n, 0));
    return coverRounded(counts, totals, 11);
  };

  it("hides a count whose rounding gives a small one away beside an exact total", () => {
    // 28 of 29 is written 30: the other is 1. 77 of 87 is written 75: the others are 10.
    expect(
      shown([
        [28, 1],
        [77, 10],
        [105, 11],
      ]),
    ).toEqual([
      ["bounded", "rounded"],
      ["bounded", "rounded"],
      ["rounded", "rounded"],
    ]);
    // 33 of 40 is written 35: the others are 3 to 7.
    expect(
      shown([
        [33, 7],
        [50, 50],
        [83, 57],
      ]).flat(),
    ).toEqual(Array(6).fill("rounded"));
  });

  it("does so over groups as well as over levels", () => {
    // All 12 and 11 of a group are both written 11: the other group has 1.
    const marks = shown([
      [1, 40, 40],
      [11, 40, 40],
      [12, 80, 80],
    ]);
    expect([marks[1][0], marks[2][0]]).toContain("bounded");
  });

  it("leaves three values or more for every small count of a group alone, also by withholding it", () => {
    for (let total = 11; total <= 45; total++) {
      const pairs = Array.from({ length: total + 1 }, (_, a) => [a, total - a]);
      const triples = pairs.flatMap(([a, rest]) => Array.from({ length: rest + 1 }, (_, b) => [a, b, rest - b]));
      for (const rows of [pairs, triples]) {
        const marks = rows.map((row) => shown([row, row])[0]);
        const withheld = rows.filter((_, i) => marks[i][0] === "withheld");
        for (const [i, row] of rows.entries()) {
          const ranges = row.map((n, c): readonly [number, number] =>
            marks[i][c] === "bounded" ? [11, total] : roughRange(n, 11),
          );
          const fits = (other: readonly number[]) => other.every((n, c) => n >= ranges[c][0] && n <= ranges[c][1]);
          // Of a row that is withheld it is known that it is one of those that are.
          const alike = marks[i][0] === "withheld" ? withheld : rows.filter(fits);
          for (const [c, n] of row.entries()) {
            if (n === 0 || n >= 11) continue;
            const values = new Set(alike.map((other) => other[c]));
            expect(values.size, `${row}: ${marks[i]} leaves ${[...values]}`).toBeGreaterThanOrEqual(3);
          }
        }
      }
    }
  });

  it("leaves three values or more for every small count, whatever the counts", () => {
    const random = createRandom(3);
    const range = (n: number, mark: string): [number, number] => {
      if (mark === "withheld") return [0, 1e6];
      if (mark === "bounded") return [11, 1e6];
      if (n === 0) return [0, 0];
      if (n < 11) return [1, 10];
      // Every count that would be written alike.
      const alike = [...Array(400).keys()].filter((x) => x >= 11 && roughCount(x, 11) === roughCount(n, 11));
      return [Math.min(...alike), Math.max(...alike)];
    };
    for (let round = 0; round < 300; round++) {
      const groups = Array.from({ length: 3 }, () => Array.from({ length: 3 }, () => random.integer(40)));
      const counts = [...groups, groups[0].map((_, c) => groups.reduce((sum, row) => sum + row[c], 0))];
      const marks = shown(counts);
      for (const [r, row] of counts.entries()) {
        const total = row.reduce((sum, n) => sum + n, 0);
        for (const [c, n] of row.entries()) {
          if (n === 0 || n >= 11) continue;
          const others = row.flatMap((x, k) => (k === c ? [] : [range(x, marks[r][k])]));
          const from = Math.max(1, total - others.reduce((sum, [, u]) => sum + u, 0));
          const until = Math.min(10, total - others.reduce((sum, [l]) => sum + l, 0));
          const open = others.some(([, u]) => u === 1e6);
          expect(open || until - from + 1 >= 3, `${row}`).toBe(true);
        }
      }
    }
  });
});
