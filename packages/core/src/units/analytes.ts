/**
 * What is known of single analytes: the weight of a mole, charges, and formulas between units that no general rule may join. Laboratory codes
 * are those of LOINC (loinc.org). Weights in g/mol; "urea nitrogen" and "phosphate" are reported as the mass of their
 * nitrogen and phosphorus, haemoglobin per chain, as laboratories do.
 */

export interface Analyte {
  readonly name: string;
  /** Other names, lower case. */
  readonly aliases: readonly string[];
  /** LOINC codes of blood, serum or plasma (and of ratios). */
  readonly loinc: readonly string[];
  /** Grams per mole. */
  readonly weight?: number;
  /** Elementary charges of the ion, for equivalents. */
  readonly charge?: number;
  /** Whether it is an enzyme, of which U and IU are the same. */
  readonly enzyme?: boolean;
  /** The same quantity in units that only this analyte joins: value of the first unit = intercept + slope · value. */
  readonly scales?: readonly Scale[];
  /** Units between which laboratories differ: the one with smaller values first. */
  readonly usual?: readonly [small: string, large: string];
}

export interface Scale {
  readonly unit: string;
  readonly slope: number;
  readonly intercept: number;
}

const words = (text: string): readonly string[] => (text === "" ? [] : text.split("|"));
const codes = (text: string): readonly string[] => (text === "" ? [] : text.split(" "));

type Usual = Analyte["usual"];
const MG_UMOL: Usual = ["mg/dL", "umol/L"];
const MMOL_MG: Usual = ["mmol/L", "mg/dL"];

/** An analyte with a weight. */
const mass = (
  name: string,
  aliases: string,
  weight: number,
  loinc: string,
  usual?: Usual,
  charge?: number,
): Analyte => ({
  name,
  aliases: words(aliases),
  loinc: codes(loinc),
  weight,
  ...(usual === undefined ? {} : { usual }),
  ...(charge === undefined ? {} : { charge }),
});

const enzyme = (name: string, aliases: string, loinc: string): Analyte => ({
  name,
  aliases: words(aliases),
  loinc: codes(loinc),
  enzyme: true,
});

const scaled = (name: string, aliases: string, loinc: string, scales: readonly Scale[]): Analyte => ({
  name,
  aliases: words(aliases),
  loinc: codes(loinc),
  scales,
});

const scale = (unit: string, slope = 1, intercept = 0): Scale => ({ unit, slope, intercept });
const PERCENT = [scale("%"), scale("1", 100)];
/** Grams per mole of creatinine, C4H7N3O. */
const CREATININE = 113.12;

export const ANALYTES: readonly Analyte[] = [
  mass("creatinine", "crea|creat|serum creatinine", CREATININE, "2160-0 38483-4 14682-9", MG_UMOL),
  mass("glucose", "glu|blood glucose", 180.16, "2345-7 2339-0 1558-6 14749-6", MMOL_MG),
  mass("bilirubin", "bili|total bilirubin|bilirubin total", 584.66, "1975-2 1968-7 14631-6", MG_UMOL),
  mass("cholesterol", "chol|total cholesterol", 386.65, "2093-3 14647-2", MMOL_MG),
  mass("HDL cholesterol", "hdl|hdl-c", 386.65, "2085-9 14646-4", MMOL_MG),
  mass("LDL cholesterol", "ldl|ldl-c", 386.65, "2089-1 13457-7 18262-6 22748-8", MMOL_MG),
  mass("triglycerides", "trig|tg|triglyceride", 885.43, "2571-8 14927-8", MMOL_MG),
  mass("urea nitrogen", "bun|blood urea nitrogen", 28.014, "3094-0 6299-2", MMOL_MG),
  mass("urea", "", 60.06, "3091-6 22664-7", MMOL_MG),
  mass("uric acid", "urate", 168.11, "3084-1 14933-6", MG_UMOL),
  mass("haemoglobin", "hemoglobin|hb|hgb", 16_114.5, "718-7 59260-0", ["mmol/L", "g/dL"]),
  mass("calcium", "ca", 40.078, "17861-6 2000-8", MMOL_MG, 2),
  mass("magnesium", "mg", 24.305, "19123-9 2601-3", MMOL_MG, 2),
  mass("phosphate", "phosphorus|inorganic phosphate", 30.974, "2777-1 14879-1", MMOL_MG),
  mass("sodium", "na", 22.99, "2951-2 2947-0", undefined, 1),
  mass("potassium", "k", 39.098, "2823-3 6298-4", undefined, 1),
  mass("chloride", "cl", 35.45, "2075-0 2069-3", undefined, 1),
  mass("bicarbonate", "hco3", 61.017, "1963-8", undefined, 1),
  mass("iron", "fe|serum iron", 55.845, "2498-4 14798-3", ["umol/L", "ug/dL"]),
  mass("copper", "cu", 63.546, "", ["umol/L", "ug/dL"]),
  mass("zinc", "zn", 65.38, "", ["umol/L", "ug/dL"]),
  mass("thyroxine", "t4|total t4", 776.87, "3026-2 14921-1", ["ug/dL", "nmol/L"]),
  mass("free thyroxine", "ft4|free t4", 776.87, "3024-7 14920-3", ["ng/dL", "pmol/L"]),
  mass("triiodothyronine", "t3|total t3", 650.97, "3053-6", ["nmol/L", "ng/dL"]),
  mass("vitamin D", "25-hydroxyvitamin d|25-oh vitamin d|25ohd", 400.64, "1989-3 62292-8", ["ng/mL", "nmol/L"]),
  mass("vitamin B12", "b12|cobalamin", 1355.37, "2132-9", ["pmol/L", "pg/mL"]),
  mass("folate", "folic acid", 441.4, "2284-8", ["ng/mL", "nmol/L"]),
  mass("cortisol", "", 362.46, "2143-6", ["ug/dL", "nmol/L"]),
  mass("testosterone", "", 288.42, "2986-8", ["nmol/L", "ng/dL"]),
  mass("estradiol", "oestradiol|e2", 272.38, "2243-4", ["pg/mL", "pmol/L"]),
  mass("progesterone", "", 314.46, "", ["ng/mL", "nmol/L"]),
  mass("lactate", "lactic acid", 90.08, "2524-7 14118-4", MMOL_MG),
  mass("ammonia", "nh3", 17.031, "", ["umol/L", "ug/dL"]),
  mass("homocysteine", "", 135.18, "", ["mg/L", "umol/L"]),
  mass("albumin", "alb", 66_438, "1751-7", ["g/dL", "umol/L"]),
  mass("lithium", "li", 6.94, "14334-7", undefined, 1),
  enzyme("alanine aminotransferase", "alt|alat|sgpt|gpt", "1742-6"),
  enzyme("aspartate aminotransferase", "ast|asat|sgot|got", "1920-8"),
  enzyme("alkaline phosphatase", "alp|alkphos|alk.phos", "6768-6"),
  enzyme("gamma-glutamyltransferase", "ggt|gamma-gt", "2324-2"),
  enzyme("lactate dehydrogenase", "ldh", "2532-0 14804-9"),
  enzyme("creatine kinase", "ck|cpk", "2157-6"),
  enzyme("lipase", "", "3040-3"),
  enzyme("amylase", "", "1798-8"),
  // IFCC (mmol/mol) = 10.93 NGSP (%) − 23.5.
  scaled("haemoglobin A1c", "hba1c|a1c|hemoglobin a1c|glycated haemoglobin", "4548-4 17856-6 59261-8", [
    scale("mmol/mol"),
    scale("%", 10.93, -23.5),
  ]),
  scaled("haematocrit", "hematocrit|hct", "4544-3 20570-8", [...PERCENT, scale("L/L", 100)]),
  scaled("oxygen saturation", "spo2|sao2", "2708-6 59408-5", PERCENT),
  scaled("ejection fraction", "lvef|ef", "10230-1", PERCENT),
  scaled("transferrin saturation", "tsat", "2502-3", PERCENT),
  scaled("FEV1/FVC", "fev1/fvc ratio", "19926-5", PERCENT),
  // Of creatinine 1 g is 1000/113.12 mmol.
  scaled("albumin/creatinine", "acr|uacr|albumin/creatinine ratio", "9318-7 14959-1", [
    scale("mg/g"),
    scale("ug/mg"),
    scale("mg/mmol", 1000 / CREATININE),
    scale("g/mol", 1000 / CREATININE),
  ]),
];

/** The analyte of a name or LOINC code, written in any case; undefined if it is not in the table. */
export function findAnalyte(text: string): Analyte | undefined {
  const wanted = text.trim().toLowerCase().replaceAll("_", " ");
  return ANALYTES.find(
    ({ name, aliases, loinc }) =>
      name.toLowerCase() === wanted || aliases.includes(wanted) || loinc.includes(wanted.replace(/^loinc\|/, "")),
  );
}

/** Grams or moles in one of the usual units, per litre. */
const PER_LITRE: Readonly<Record<string, number>> = {
  "g/dL": 10,
  "mg/dL": 1e-2,
  "ug/dL": 1e-5,
  "ng/dL": 1e-8,
  "mg/L": 1e-3,
  "ng/mL": 1e-6,
  "pg/mL": 1e-9,
  "mmol/L": 1e-3,
  "umol/L": 1e-6,
  "nmol/L": 1e-9,
  "pmol/L": 1e-12,
};

/** How many times larger the same amount is in the second of an analyte's usual units; undefined if it has none. */
export function usualRatio({ usual, weight }: Analyte): number | undefined {
  if (usual === undefined || weight === undefined) return undefined;
  const moles = (unit: string) => PER_LITRE[unit] / (unit.includes("mol") ? 1 : weight);
  return moles(usual[0]) / moles(usual[1]);
}

/** Units that would explain why some values are so many times others. */
export interface RatioReason {
  readonly analyte: string;
  readonly small: string;
  readonly large: string;
  readonly ratio: number;
}

/** Medians of two heaps are of different individuals: a named analyte's ratio may be off by this factor, and any analyte's by the other. */
const NAMED_SLACK = 1.5;
const SLACK = 1.1;
const MOST_REASONS = 3;

/** Analytes whose two usual units lie so many times apart, the one of that name alone if it is among them, else nearest first. */
export function ratioReasons(ratio: number, name: string): RatioReason[] {
  const named = findAnalyte(name);
  const off = (r: number) => Math.max(r / ratio, ratio / r);
  const all = ANALYTES.flatMap((analyte): RatioReason[] => {
    const own = usualRatio(analyte);
    if (own === undefined || off(own) > (analyte === named ? NAMED_SLACK : SLACK)) return [];
    const [small, large] = analyte.usual!;
    return [{ analyte: analyte.name, small, large, ratio: own }];
  });
  const byName = all.filter(({ analyte }) => analyte === named?.name);
  return byName.length > 0 ? byName : all.sort((a, b) => off(a.ratio) - off(b.ratio)).slice(0, MOST_REASONS);
}
