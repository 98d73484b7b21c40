/**
 * Every code that an error or a complaint may carry: what it means and what to do. Codes are stable; messages are not.
 * `docs/errors.md` is made from this list (`npm run docs`).
 */

/**
 * What a code tells of:
 * - table: a file of rows, its cells and columns; those marked "Warning" do not refuse it
 * - cohort: the individuals and observations, for what was asked of them
 * - outcome: outcomes, follow-up and groups
 * - option: an argument of a call, or an option of a command
 * - file: a model file, or a snapshot of a fit
 * - numerical: arithmetic that cannot go on
 * - program: a call that a correct program does not make
 * - explorer: the page and the browser it runs in
 */
export type ErrorKind = "table" | "cohort" | "outcome" | "option" | "file" | "numerical" | "program" | "explorer";

interface Entry {
  readonly kind: ErrorKind;
  readonly meaning: string;
  readonly remedy: string;
}

const table = (meaning: string, remedy: string): Entry => ({ kind: "table", meaning, remedy });
const cohort = (meaning: string, remedy: string): Entry => ({ kind: "cohort", meaning, remedy });
const outcome = (meaning: string, remedy: string): Entry => ({ kind: "outcome", meaning, remedy });
const option = (meaning: string, remedy: string): Entry => ({ kind: "option", meaning, remedy });
const file = (meaning: string, remedy: string): Entry => ({ kind: "file", meaning, remedy });
const numerical = (meaning: string, remedy: string): Entry => ({ kind: "numerical", meaning, remedy });
const program = (meaning: string, remedy: string): Entry => ({ kind: "program", meaning, remedy });
const explorer = (meaning: string, remedy: string): Entry => ({ kind: "explorer", meaning, remedy });

export const ERROR_CODES = {
  "empty-file": table("The file holds nothing.", "Check the file and how it was exported."),
  "not-text": table("The file is not text: a web page, damaged gzip data.", "Export the table as CSV."),
  "not-utf8": table(
    "The text is not encoded in UTF-8, UTF-16 or, throughout, Windows-1252.",
    "Save the file as UTF-8, or name the encoding.",
  ),
  "unsupported-format": table(
    "The format is known but not read: old workbooks (.xls), JSON that is no table, FHIR without its options.",
    "Save it as .xlsx, Parquet or CSV.",
  ),
  "damaged-file": table(
    "A workbook, a zip archive, Parquet or Arrow data cannot be opened: damaged, cut or encrypted.",
    "Write or copy the file again, without a password.",
  ),
  "several-files": table("A zip archive holds several files, or none.", "Unpack it and name the file that is meant."),
  "missing-sheet": table("A workbook has no sheet of that name or number.", "Name one of its sheets."),
  "unsupported-type": table(
    "A column is of a type that is no number, text or date, such as a span of time.",
    "Write it as numbers in one unit, or leave the column out.",
  ),
  "nested-cell": table(
    "A cell holds a list, an object or bytes.",
    "Write one row for each observation, or leave the column out.",
  ),
  "unsaved-formula": table(
    "Formulas of a workbook have no saved values.",
    "Open the workbook in Excel or LibreOffice and save it: that computes them.",
  ),
  "inexact-number": table(
    "A whole number has more digits than are held exactly; two ids might become one.",
    "Write long numbers as text.",
  ),
  "too-large": table(
    "The file, unpacked, or the number of its individuals is more than can be held.",
    "Split the file.",
  ),
  "no-header": table("The first row looks like data.", "Add a row with the names of the columns."),
  "missing-column": table("A column that is needed was not found.", "Name the column, or add it to the table."),
  "duplicate-column": table("Two columns have the same name.", "Rename or remove all but one."),
  "two-roles": table("One column is asked for as two things, such as time and marker.", "Name a column for each."),
  "unread-markers": table(
    "A column seems to name the marker of each row, and rows of several are read as one: refused where the value column was guessed, a warning where it was named.",
    "Name that column and the markers wanted, or the value column if there is one marker.",
  ),
  "no-rows": table("There are no usable rows.", "Check the columns and how the table was exported."),
  "ragged-row": table("A row has more or fewer cells than the header.", "Mend the row; often a cell needs quotes."),
  "unclosed-quote": table("A quotation mark is never closed.", "Close the quote, or double it inside a cell."),
  "text-after-quote": table("Text follows a closing quotation mark.", "Double quotation marks inside a cell."),
  "control-character": table("A cell holds a control character.", "Remove it."),
  "field-too-long": table(
    "An id, or any other field, is too long.",
    "Check whether quotes are closed; shorten the id.",
  ),
  "line-too-long": table(
    "A line is longer than any of a table.",
    "Export the table again: its line ends were lost, or it is no text.",
  ),
  "too-many-columns": table("A table has more columns than are read.", "Leave out the columns that are not needed."),
  "missing-id": table("A row has no id.", "Give the id of the individual, or remove the row."),
  "missing-time": table("A row has no time.", "Give the time of the observation, or remove the row."),
  "not-a-number": table(
    "A cell that should hold a number holds text.",
    "Give a number alone, or leave the cell empty.",
  ),
  "censored-value": table(
    "A value below or above a limit does not say which, or a time is given so.",
    "Write the limit as a number behind the sign (<0.3), or leave the cell empty.",
  ),
  underflow: table("A number is too small to be computed with and would become 0.", "Give the values in another unit."),
  "mixed-decimals": table("Some numbers have a decimal comma, some a decimal point.", "Use one decimal mark."),
  "ambiguous-comma": table(
    "Commas or points may be decimal marks or thousands separators.",
    "Say which is the decimal mark.",
  ),
  "mixed-time": table(
    "Some times or origins are dates, some are numbers.",
    "Write all of them in one way: dates, or numbers since one origin.",
  ),
  "dates-need-origin": table(
    "Times are dates where numbers were fitted, or their unit is none of years, months, weeks and days.",
    "Say from when dates are counted, and in which unit.",
  ),
  "no-such-date": table("A date is not in the calendar, or not in the order that was asked for.", "Correct the date."),
  "ambiguous-date": table(
    "Day and month of all dates of a column could be swapped.",
    "Say which comes first, or write dates as year-month-day.",
  ),
  "mixed-dates": table(
    "Some dates of a column can only be read day first, others only month first.",
    "Write all dates alike, best as year-month-day.",
  ),
  "short-year": table(
    "Dates have years of two digits.",
    "Write four, or say the order of dates and the last year of this century.",
  ),
  "partial-date": table(
    "Dates have no day, or no month and day.",
    "Give the day, or take such dates at the middle of their month or year.",
  ),
  "missing-origin": table(
    "Individuals have no date or number from which their times are counted.",
    "Give it, or leave these individuals out.",
  ),
  "contradicting-origin": table(
    "An individual has two origins of time.",
    "Give each individual one, the same in all rows.",
  ),
  "transform-domain": table(
    "The marker's transform is not defined for a value.",
    "Leave such rows out, or choose another transform.",
  ),
  "missing-value": table("Warning: rows without a value were left out.", "Nothing needs to be done."),
  "id-whitespace": table(
    "Warning: ids with and without spaces around them were taken as the same individual.",
    "Check that they are the same individual.",
  ),
  "alike-ids": table(
    "Warning: ids differ only in case, zeros in front or signs that are not seen; each is an individual of its own.",
    "Write them alike if they are the same individual.",
  ),
  "duplicate-rows": table("Warning: rows repeat exactly; they are left out.", "Keep them if they are measurements."),
  "same-time": table("Warning: an individual has several values at one time; all are kept.", "Check the export."),
  "negative-time": table("Warning: times below 0.", "Check the origin of time."),
  "far-time": table("Warning: times far from all others; nothing was removed.", "Check them for typing errors."),
  "spreadsheet-dates": table(
    "Warning: times look like day numbers of a spreadsheet, or like dates without marks.",
    "Write them as dates, or say that they are.",
  ),
  "suspected-missing-code": table("Warning: a value such as -999 may mean missing.", "If so, empty these cells."),
  outlier: table("Warning: values far from the others; nothing was removed.", "Check them for typing errors or units."),
  "out-of-range": table(
    "Values outside the limits of the marker: a warning, and refused by a fit where all are.",
    "Check the values and the range.",
  ),
  "not-json": table(
    "A file or a line that should be JSON is not, or is cut.",
    "Check whether the file is whole; export it again.",
  ),
  "mixed-systems": table("A code was found in several systems of codes.", "Name the system before the code."),
  "missing-unit": table(
    "A value has no unit where a column of units is read.",
    "Give the unit, or say what none means.",
  ),
  "unknown-unit": table("A unit is not known, or may mean two things.", "Write it as UCUM does, or say what it means."),
  "other-unit": table(
    "A value is in a unit that no rule joins with that of the marker.",
    "Name the analyte, or say what the unit means.",
  ),
  "two-units": table("Warning: the values may be in two units.", "Bring all values to one unit."),

  "too-few-individuals": cohort(
    "There are too few individuals for what was asked.",
    "Add individuals, or ask for less.",
  ),
  "too-few-shared": cohort("Two maps share too few individuals to be aligned.", "Place the same individuals on both."),
  "no-variation": cohort("All values are the same.", "Check the value column."),
  "one-observation-each": cohort(
    "Nobody was observed twice, so noise and differences between individuals cannot be told apart.",
    "Add repeated observations.",
  ),
  "one-time": cohort("All observations are at one time.", "Check the time column; a course needs two times or more."),
  "constant-column": cohort("A coordinate or covariate is the same for everybody.", "Leave it out."),
  "other-marker": cohort(
    "The values are of another marker, or in another unit, than the model's.",
    "Convert the values.",
  ),
  "same-marker": cohort("Warning: two markers say the same.", "Leave one out; it counts twice."),
  "many-markers": cohort(
    "Warning: so many markers share one map that it carries little of each.",
    "Take the two or three that matter.",
  ),
  "varying-covariate": cohort(
    "A covariate changes within an individual.",
    "Give the value known at the first visit; what changes in time is no covariate.",
  ),
  "missing-covariate": cohort(
    "A covariate that is needed is missing.",
    "Give it, or fit with missing values as a level of their own.",
  ),
  "other-ids": cohort(
    "The table of individuals has none of the ids of the visits.",
    "Write the ids alike in both, or name the column of ids.",
  ),
  "unknown-level": cohort("A covariate has a level that the model does not know.", "Give one of its levels."),
  "nothing-to-test": cohort("None of the covariates can be tested.", "The message says why, for each."),
  "several-markers": cohort("A cohort of several markers came where one is handled.", "Take one of the markers."),
  history: cohort("History and future are not of the same individuals.", "Select both with selectVisits."),

  "outcome-specification": outcome("An outcome was asked for in words that cannot be read.", "Write name:column."),
  "contradicting-outcome": outcome(
    "One individual has two outcomes.",
    "Correct the table: one outcome per individual.",
  ),
  "determined-label": outcome(
    "The covariates determine the outcome, so that the two cannot be told apart.",
    "Leave it out of the outcomes, or the covariate that determines it out of the adjustment.",
  ),
  "id-column": outcome(
    "A column that names individuals, ids or running numbers, is asked for as times of follow-up.",
    "Name the column with the time.",
  ),
  "one-class": outcome("Everybody has the outcome, or nobody has.", "Choose another outcome."),
  "many-values": outcome("An outcome has more than two values.", "Say which value counts as a case."),
  "unknown-ids": outcome("Warning: ids that are not in the cohort were left out.", "Check how the ids are written."),
  "follow-up": outcome(
    "A time of follow-up is negative, an event is not 0 or 1, or a column cannot be the follow-up of these visits: it ends before them, lies far beyond them or counts them.",
    "Correct it, leave it out, or name the column of follow-up.",
  ),
  landmark: outcome("The landmark leaves nobody to compare.", "Give another landmark."),
  "no-outcomes": outcome("There is no table of outcomes.", "Add one under Data."),

  option: option("An option is out of range or unknown.", "The message says what is accepted."),
  "other-model": option(
    "The individual was placed by another model than the one that is to predict.",
    "Place it by this model (placeIndividual).",
  ),
  "unknown-model": option("The kind of model is not one of those known.", "Use dtm, dtm-paper, lmm or fpca."),
  "map-dimension": option("The map cannot have that many dimensions.", "Use 1 or 2; dtm-paper also takes 3."),
  "basis-too-large": option("The basis is larger than the number of distinct times.", "Use a smaller basis."),
  collinear: option("A covariate follows from the others.", "Leave one out."),
  extrapolation: option("A forecast was asked to start after the last time of the cohort.", "Start earlier."),
  "no-lattice": option("Nodes were asked for of a model that has none.", "Use location and covariance."),
  kernels: option("WebAssembly with SIMD was asked for and is not available.", "Leave kernels at auto."),

  "bad-json": file("The file is not JSON, or not as this software writes it.", "Use the original file."),
  "not-a-model": file("The file is JSON but not a model file.", "Give a model file, such as model.json of a run."),
  "newer-format": file("The file was written by a newer version.", "Update this software."),
  "bad-model": file("A field of the model cannot be right.", "Use the original file, or fit again."),
  checksum: file("The file was changed or damaged after it was written.", "Use the original file."),
  probe: file("The stored prediction is not what this software computes.", "Fit again with this version."),
  "bad-statistics": file("A file of statistics is not as it should be.", "Write it again with `dtm statistics`."),
  "bad-snapshot": file("A snapshot is not as it was returned.", "Store it by structured clone; or start the fit anew."),
  "other-version": file("A snapshot was taken by another version.", "Start the fit anew."),
  "other-data": file("A snapshot was taken of another cohort or other options.", "Start a new fit for other data."),

  "not-finite": numerical("A number is infinite, not a number, or too large to be held.", "Give finite numbers."),
  "not-computable": numerical(
    "What was computed of an individual means nothing: its values lie too far from what the model expects.",
    "Look up its values: another unit, or a code for missing.",
  ),
  "not-positive-definite": numerical(
    "A matrix lost its positive definiteness.",
    "Check for values that repeat exactly.",
  ),
  "no-convergence": numerical("An iteration did not converge.", "Check that all numbers are finite."),
  "not-monotone": numerical("An objective that must not fall fell.", "Please report it, with the options of the fit."),
  "singular-covariance": numerical("Places do not fill their dimensions.", "Use fewer coordinates."),
  "zero-variance": numerical("A statistic has no variance.", "Read the test on whole posteriors."),
  bandwidth: numerical("No bandwidth could be found.", "Check the places for far outliers."),
  "no-information": numerical("There are no events to learn from.", "Follow longer, or join groups."),

  cancelled: program("The work was cancelled by its signal.", "Nothing needs to be done."),
  "empty-group": program("A group has no members.", "Give every group at least one member."),
  "not-given": program("A function was called without an argument that it needs.", "Give the argument."),
  shape: program(
    "An argument is something else than the function takes, or arrays do not fit together.",
    "Give what the function documents.",
  ),
  "not-fitted": program("A result was asked for before there is one.", "Fit first."),
  "not-data": program("Something that is not plain data was to be saved.", "Save what a fit returned, unchanged."),
  internal: program("The program failed in a way nobody foresaw.", "Please report the message."),

  "cannot-read": explorer("The browser could not read the file.", "Choose the file again."),
  "no-example": explorer("The example is not part of this page.", "Drop a table of your own."),
  "no-cohort": explorer("No table is loaded.", "Load a table first."),
  forgotten: explorer("Everything was forgotten, as asked.", "Nothing needs to be done."),
  "cannot-keep": explorer("The browser refuses to keep the study.", "Export what you need."),
  "kept-elsewhere": explorer("Another tab keeps a study in this browser.", "Export what you need from this tab."),
} as const satisfies Readonly<Record<string, Entry>>;

/** A code of the list. */
export type ErrorCode = keyof typeof ERROR_CODES;
