/** Small tables that show how tables are written: to be filled in, or to try the program with. */

export const TEMPLATES = {
  /** One row per visit, with dates. */
  visits: `id,date,fvc,dlco
p001,2019-03-14,82.5,71
p001,2019-09-20,80.1,69
p001,2020-03-02,77.9,
p002,2018-11-05,95.0,88
p002,2019-11-12,93.2,86
p003,2020-01-31,61.4,55
p003,2020-07-28,58.8,52
`,
  /** One row per individual: origins of time, outcomes, covariates. */
  subjects: `id,onset,birth,sex,death
p001,2018-06-01,1961-02-17,f,0
p002,2017-01-15,1955-10-03,m,0
p003,2019-12-10,1948-05-22,f,1
`,
  /** One row per individual, a column for each time of each marker, here in months. */
  wide: `id,fvc_month0,fvc_month6,fvc_month12,dlco_month0,dlco_month6,dlco_month12
p001,82.5,80.1,77.9,71,69,
p002,95.0,,93.2,88,,86
p003,61.4,58.8,,55,52,
`,
} as const satisfies Readonly<Record<string, string>>;

export type TemplateName = keyof typeof TEMPLATES;
