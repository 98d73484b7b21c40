/**
 * Reads the name and the summary of a group as a sceptic would, and recomputes every word and number from the line that is
 * drawn beside them: contradictions, in words. Shares no code with what makes the names.
 */
export interface NamedLine {
  readonly name: string;
  readonly summary: string;
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** The scale on which noise has one size: to it and back, and the standard deviation of one measurement there. */
export interface Scale {
  readonly to: (value: number) => number;
  readonly back: (y: number) => number;
  readonly noise: number;
}

const number = (text: string) => Number(text.replaceAll(",", "").replace("−", "-"));
const NUMBER = "(−?[\\d,]+(?:\\.\\d+)?)";

export function contradictions({ name, summary, times, values }: NamedLine, scale: Scale): string[] {
  const found: string[] = [];
  const complain = (what: string) => found.push(`"${name}" (${summary}): ${what}`);
  const at = (t: number) => {
    let j = 0;
    while (j + 2 < times.length && times[j + 1] <= t) j++;
    return values[j] + ((t - times[j]) * (values[j + 1] - values[j])) / (times[j + 1] - times[j]);
  };
  // Numbers are rounded to the leading digit of the noise or to two digits: half of that is the most they may miss by.
  const slack = (v: number) => {
    const spread = 0.5 * (scale.back(scale.to(v) + scale.noise) - scale.back(scale.to(v) - scale.noise));
    const digit = (x: number) => 10 ** Math.floor(Math.log10(x) + 1e-9);
    return 0.5 * Math.min(digit(spread), v === 0 ? Infinity : digit(Math.abs(v)) / 10) * (1 + 1e-6);
  };
  const same = (said: number, is: number, what: string) => {
    // A number may have lost a digit by its rounding, 9.96 to 10.
    if (!(Math.abs(said - is) <= Math.max(slack(is), slack(said)))) complain(`${what} is ${is}, not ${said}`);
  };

  const points = [...summary.matchAll(new RegExp(`${NUMBER} at \\w+ ${NUMBER}`, "g"))].map(([, v, t]) => ({
    t: number(t),
    v: number(v),
  }));
  if (points.length === 0) return [`"${name}": the summary "${summary}" has no numbers`];
  for (const { t, v } of points) same(v, at(t), `the line at ${t}`);
  const [first, last] = [points[0].t, points[points.length - 1].t];

  const rate = summary.match(new RegExp(`, ([+−])${NUMBER}(%?) (?:an?|per) `));
  if (rate !== null) {
    const [start, end] = [at(first), at(last)];
    const is = rate[3] === "%" ? 100 * ((end / start) ** (1 / (last - first)) - 1) : (end - start) / (last - first);
    const said = (rate[1] === "−" ? -1 : 1) * number(rate[2]);
    const digits = rate[2].split(".")[1]?.length ?? 0;
    // Whole numbers may be rounded to tens and more, where the noise is that large.
    const allowed = digits > 0 || rate[3] === "%" ? 0.5 * 10 ** -digits : Math.max(0.5, slack(end));
    if (Math.abs(said - is) > allowed * (1 + 1e-6)) complain(`the rate from end to end is ${is}, not ${said}`);
  }

  // The words, piece by piece: one from the first to the last time, or two with the turn between.
  const turn = points.length === 3 ? points[1].t : last;
  const within = (from: number, to: number) =>
    [from, ...Array.from(times).filter((t) => t > from && t < to), to].map((t) => scale.to(at(t)) / scale.noise);
  const judge = (word: string, line: readonly number[]) => {
    const change = line[line.length - 1] - line[0];
    const range = Math.max(...line) - Math.min(...line);
    if (word === "stable" && range > 1 + 1e-9) complain(`stable, but it moves by ${range} sd of the noise`);
    if (word === "falls" && !(change <= -0.5)) complain(`falls, but it changes by ${change} sd of the noise`);
    if (word === "rises" && !(change >= 0.5)) complain(`rises, but it changes by ${change} sd of the noise`);
  };
  const words = name.replace("rises back", "rises").replace("falls back", "falls");
  const [, a] = words.match(/^(stable|falls|rises|varies|near)/) ?? [];
  if (a === undefined) complain("it does not begin with a word for a shape");
  const b = words.match(/, then (stable|falls|rises|varies|recovers)/)?.[1];
  const pace = words.match(/, (faster|slower) later/)?.[1];
  if ((b ?? pace) !== undefined && points.length !== 3) complain("two pieces without a turn in the numbers");
  const [one, two] = [within(first, turn), within(turn, last)];
  judge(a ?? "", one);
  if (b !== undefined) judge(b, two);
  if (pace !== undefined) {
    judge(a ?? "", two);
    const steep = (line: readonly number[], span: number) => Math.abs(line[line.length - 1] - line[0]) / span;
    const faster = steep(two, last - turn) > steep(one, turn - first);
    if (faster !== (pace === "faster")) complain(`it is ${faster ? "faster" : "slower"} later`);
  }
  const near = name.match(new RegExp(`stable near ${NUMBER}`));
  if (near !== null) {
    const level = scale.to(number(near[1])) / scale.noise;
    const allowed = 0.5 + (scale.to(number(near[1]) + slack(number(near[1]))) / scale.noise - level);
    const far = Math.max(...(b === undefined ? one : two).map((y) => Math.abs(y - level)));
    if (far > allowed + 1e-6) complain(`the line is up to ${far} sd of the noise away from ${near[1]}`);
  }
  const to = name.match(new RegExp(`^(?!.*\\().* to ${NUMBER}$`));
  if (to !== null) same(number(to[1]), at(last), "the last value");
  const ends = name.match(new RegExp(`\\(${NUMBER} to ${NUMBER}\\)$`));
  if (ends !== null) {
    same(number(ends[1]), at(first), "the first value");
    same(number(ends[2]), at(last), "the last value");
  }
  return found;
}
