/** How tables and resources are read, and what comes of it, as page and worker say it to each other. */
import type { Cohort, Complaint, Marker } from "@trajectory-maps/core";
import type { ReadFhirOptions, ToldLine } from "@trajectory-maps/core/fhir";
import type {
  CohortQuality,
  Columns,
  MarkerChoice,
  ReadCohort,
  ReadCohortOptions,
  SubjectsTable,
  TableRow,
} from "@trajectory-maps/core/ingest";
import type { SuspectValue } from "@trajectory-maps/core/study";

type OwnForm = "sheet" | "delimiter" | "encoding" | "decimal" | "thousands" | "wide";
type DateForm = "origin" | "dateOrder" | "yearPivot" | "partialDates" | "swappedDates";

/** How a table is written, and from when its times are counted. */
export interface TableForm extends Pick<ReadCohortOptions, OwnForm | DateForm> {
  /** The column with the unit of each value, for each marker; "" for one whose values are taken as they are. All are brought to the unit of the marker. */
  readonly unitColumns?: readonly string[];
}

/** How a table of visits is read. */
export interface ReadChoice extends TableForm {
  readonly columns?: Partial<Columns>;
  readonly marker?: Partial<Marker>;
  /** Several markers instead of one: a value column each, or with `markerColumn` all in one. */
  readonly markers?: readonly MarkerChoice[];
  readonly markerColumn?: string;
  /** Whether some of the markers may be lacking. */
  readonly mayLack?: boolean;
  readonly onBad?: "refuse" | "leave-out";
  readonly keepRepeats?: boolean;
}

/** What of FHIR is taken besides final results with a day and a number. */
export type FhirRules = Pick<ReadFhirOptions, "status" | "partialDates" | "strings">;

/** How files of FHIR resources are read. */
export interface FhirChoice extends Pick<ReadChoice, "onBad" | "keepRepeats"> {
  readonly fhir: FhirRules &
    Pick<ReadFhirOptions, "markers" | "conditions" | "meant" | "timeUnit" | "origin" | "mayLack">;
}

/** How what is imported is read. */
export type ImportChoice = ReadChoice | FhirChoice;

/** Something of FHIR that was left out or decided, and how often. */
export type Told = Pick<ToldLine, "code" | "count" | "what" | "done">;

/** A cohort with all that is known about how it was read. */
export interface Loaded {
  /** Name of the file, or of the example. */
  readonly source: string;
  readonly cohort: Cohort;
  readonly columns: Columns;
  readonly numRows: number;
  readonly numRowsLeftOut: number;
  /** Kinds of rows left out. */
  readonly leftOut: ReadCohort["leftOut"];
  readonly warnings: readonly Complaint[];
  readonly notes: readonly string[];
  /** What of FHIR was left out or decided; the first notes say the same in sentences. */
  readonly told?: readonly Told[];
  /** Of each marker, among those who have it, [K]. */
  readonly qualities: readonly CohortQuality[];
}

/** A value of a table that is probably wrong by the courses of everybody; and whether the table is told of it too, as far from the others. */
export interface Suspect extends SuspectValue {
  readonly isFar: boolean;
}

/** Values of a table that are probably wrong; null where it is too large to look through. */
export type Suspects = readonly Suspect[] | null;

/** A table as it would be read, before anything is taken over. */
export interface Checked {
  readonly loaded: Loaded;
  /** Complaints for which the table would be refused as it stands; `loaded` lacks the rows they are about. */
  readonly refused: readonly Complaint[];
  /** Rows left out, in the order of the file; the first thousand. */
  readonly leftOut: readonly TableRow[];
  /** The table of individuals that comes with resources of FHIR. */
  readonly subjects?: LoadedSubjects;
}

/** A table of individuals with the outcomes that need no explaining. */
export interface LoadedSubjects {
  readonly source: string;
  readonly table: SubjectsTable;
  /** Columns that are outcomes as they stand. */
  readonly plain: readonly string[];
  readonly notes: readonly string[];
}
