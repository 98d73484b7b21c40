/**
 * Reads the name and the summary of a group as a sceptic would, and recomputes every word and number from the line that is
 * drawn beside them: contradictions, in words. Shares no code with what makes the names.
 */
export interface NamedLine {
  readonly name: string;
  readonly summary: string;
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  /** "−8 a year", or nothing. */
  readonly rate?: string;
  /** Last values of all groups of the set, where there are others. */
  readonly lasts?: readonly number[];
}

/** The scale on which noise has one size: to it and back, and the standard deviation of one measurement there. */
export interface Scale {
  readonly to: (value: number) => number;
  readonly back: (y: number) => number;
  readonly noise: number;
}

const number = (text: string) => Number(text.replaceAll(",", "").replace("−", "-"));
const NUMBER = "(−?[\\d,]+(?:\\.\\d+)?)";

export function contradictions(
  { name, summary, times, values, rate: paced = "", lasts = [] }: NamedLine,
  scale: Scale,
): string[] {
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

  const count = name.split(" ").length;
  if (count < 2 || count > 4) complain(`${count} words`);

  // "85 to 45 by year 5", "95, 94 at year 5, 72 by year 9", with a time for the first value unless that is 0.
  const AT = `${NUMBER}(?: at \\w+ ${NUMBER})?`;
  const parts = summary.match(new RegExp(`^${AT}(?:, ${NUMBER} at \\w+ ${NUMBER},| to) ${NUMBER} by \\w+ ${NUMBER}$`));
  const brief = summary.match(new RegExp(`^${NUMBER} at \\w+ ${NUMBER}; fewer than half are followed longer$`));
  if (parts === null && brief === null) return [`"${name}": the summary "${summary}" cannot be read`];
  const point = (v: string, t: string | undefined) => ({ v: number(v), t: t === undefined ? 0 : number(t) });
  const points =
    parts === null
      ? [point(brief![1], brief![2])]
      : [
          point(parts[1], parts[2]),
          ...(parts[3] === undefined ? [] : [point(parts[3], parts[4])]),
          point(parts[5], parts[6]),
        ];
  for (const { t, v } of points) {
    if (t < times[0] - 1e-9 || t > times[times.length - 1] + 1e-9) complain(`${t} is not a time of the line`);
    same(v, times.length === 1 ? values[0] : at(t), `the line at ${t}`);
  }
  const [first, last] = [points[0].t, points[points.length - 1].t];

  const rate = paced.match(new RegExp(`^([+−])${NUMBER}(%?) (?:an?|per) `));
  if (paced !== "" && rate === null) complain(`the rate "${paced}" cannot be read`);
  if (rate !== null) {
    const [start, end] = [at(first), at(last)];
    const is = rate[3] === "%" ? 100 * ((end / start) ** (1 / (last - first)) - 1) : (end - start) / (last - first);
    const said = (rate[1] === "−" ? -1 : 1) * number(rate[2]);
    const digits = rate[2].split(".")[1]?.length ?? 0;
    // Whole numbers may be rounded to tens and more, where the noise is that large.
    const allowed = digits > 0 || rate[3] === "%" ? 0.5 * 10 ** -digits : Math.max(0.5, slack(end));
    if (Math.abs(said - is) > allowed * (1 + 1e-6)) complain(`the rate from end to end is ${is}, not ${said}`);
  }
  if (brief !== null) {
    if (!name.startsWith("short follow-up")) complain("a group that is hardly followed has a shape");
    return found;
  }

  // The words, piece by piece: one from the first to the last time, or two with the turn between.
  const turn = points.length === 3 ? points[1].t : last;
  const within = (from: number, to: number) =>
    [from, ...Array.from(times).filter((t) => t > from && t < to), to].map((t) => scale.to(at(t)) / scale.noise);
  const [one, two] = [within(first, turn), within(turn, last)];
  const change = (line: readonly number[]) => line[line.length - 1] - line[0];
  /** Change in the marker's unit, as a share of the value before; 0 where values are not above 0. */
  const share = (line: readonly number[]) => {
    const [start, end] = [line[0], line[line.length - 1]].map((y) => scale.back(y * scale.noise));
    return start > 0 && end > 0 ? Math.abs(end / start - 1) : 0;
  };
  /** Within the noise, and yet a quarter of the value, or 15% of it and half of the noise. */
  const showsWithin = (line: readonly number[]) =>
    (Math.abs(change(line)) > 0.25 + 1e-9 && share(line) > 0.25 + 1e-9) ||
    (Math.abs(change(line)) > 0.5 + 1e-9 && share(line) > 0.15 + 1e-9);
  const isStable = (line: readonly number[]) => Math.max(...line) - Math.min(...line) <= 1 + 1e-9 && !showsWithin(line);
  const judge = (word: string, line: readonly number[]) => {
    const by = change(line);
    const least = share(line) > 0.25 - 1e-9 ? 0.25 - 1e-9 : 0.5;
    if (word === "stable" && !isStable(line)) {
      complain(`stable, but it moves by ${by} sd of the noise and ${share(line)} of its value`);
    }
    if (word === "decline" && !(by <= -least)) complain(`decline, but it changes by ${by} sd of the noise`);
    if (word === "rise" && !(by >= least)) complain(`rise, but it changes by ${by} sd of the noise`);
  };
  const pieces = (number: 2 | 3) => {
    if (points.length !== number) complain(`${points.length} numbers for ${number - 1} pieces`);
  };
  const steep = (line: readonly number[], span: number) => Math.abs(change(line)) / span;
  const [bare] = name.split(/ (?:near|to) [−\d]| \(/);
  const whole = bare.match(
    /^(?:stable(?: high| middle| low| course)?|(?:steady|slow) (decline|rise)|up and down|unsteady)$/,
  );
  const timed = bare.match(/^(early|late) (decline|rise)$/);
  const apart = bare.match(/^(stable|unsteady|decline|rise), (?:then )?(stable|unsteady|decline|rise)$/);
  const there = bare.match(
    /^(dip|peak|decline|rise)(?: and (return|recovery)|, (?:then )?(rise|decline|partly back|back))$/,
  );
  if (whole !== null) {
    pieces(2);
    judge(whole[1] ?? bare.split(" ")[0], one);
    const by = Math.abs(change(one));
    if (bare.startsWith("slow ") && !(by <= 1 + 1e-9)) complain(`slow, but it changes by ${by} sd of the noise`);
    if (bare.startsWith("steady ") && !(by >= 1 - 1e-9)) complain(`steady, but it changes by ${by} sd of the noise`);
  } else if (timed !== null) {
    pieces(3);
    const [most, least] = timed[1] === "early" ? [one, two] : [two, one];
    const [longer, shorter] = timed[1] === "early" ? [turn - first, last - turn] : [last - turn, turn - first];
    judge(timed[2], most);
    if (!isStable(least)) {
      judge(timed[2], least);
      if (!(steep(most, longer) > steep(least, shorter))) complain(`not ${timed[1]}: the other piece is steeper`);
    } else if (longer > shorter + 1e-9) complain(`not ${timed[1]}: the turn at ${turn} is in the other half`);
  } else if (apart !== null) {
    pieces(3);
    judge(apart[1], one);
    judge(apart[2], two);
  } else if (there !== null) {
    pieces(3);
    const down = there[1] === "dip" || there[1] === "decline";
    judge(down ? "decline" : "rise", one);
    judge(down ? "rise" : "decline", two);
    const share = Math.abs(change(two) / change(one));
    const back = there[2] ?? there[3];
    const [low, high] =
      back === "partly back" || there[1] === "decline" || there[1] === "rise"
        ? [0, 0.5]
        : back === "rise" || back === "decline"
          ? [2, Infinity]
          : [0.5, 2];
    if (share < low - 1e-9 || share > high + 1e-9) complain(`${share} of the way is back`);
  } else complain("no words for a shape");
  const place = bare.match(/^stable (high|low)$/)?.[1];
  const others = [...lasts].sort((x, y) => x - y);
  const middle = others[Math.floor(others.length / 2)];
  if (place === "high" && others.length > 1 && at(last) < others[Math.floor((others.length - 1) / 2)]) {
    complain(`high, but it ends at ${at(last)}, below the middle ${middle}`);
  }
  if (place === "low" && others.length > 1 && at(last) > middle) {
    complain(`low, but it ends at ${at(last)}, above the middle ${middle}`);
  }
  const near = name.match(new RegExp(`^stable near ${NUMBER}`));
  if (near !== null) {
    const level = scale.to(number(near[1])) / scale.noise;
    const allowed = 0.5 + (scale.to(number(near[1]) + slack(number(near[1]))) / scale.noise - level);
    const far = Math.max(...one.map((y) => Math.abs(y - level)));
    if (far > allowed + 1e-6) complain(`the line is up to ${far} sd of the noise away from ${near[1]}`);
  }
  const to = name.match(new RegExp(` to ${NUMBER}$`));
  if (to !== null) same(number(to[1]), at(last), "the last value");
  return found;
}
