/** What is imported, kept by the worker and read anew for every choice: a table of visits, or files of FHIR resources. */
import type { FhirListing, FhirSource } from "@trajectory-maps/core/fhir";
import {
  type ReadCohort,
  type ReadCohortOptions,
  readCohortFile,
  readSubjectsFile,
  type SubjectsTable,
} from "@trajectory-maps/core/ingest";
import type { FhirChoice, FhirRules, ImportChoice, ReadChoice, Told } from "./api.ts";
import { sourceOf } from "./file-blocks.ts";

export interface NamedFile {
  readonly blob: Blob;
  readonly name: string;
}

/** What was read: a cohort, and of resources what was told on the way and the table of individuals. */
export type ReadSource = ReadCohort & { readonly told?: readonly Told[]; readonly subjects?: SubjectsTable };

export interface Source {
  readonly name: string;
  /** Bytes of all its files. */
  readonly size: number;
  /** Reads it; rows that cannot be read are left out. `onBytes` throws to give it up. */
  read(choice: ImportChoice, onBytes: (bytes: number) => void): Promise<ReadSource>;
}

/** A table, and the one of individuals beside it at the time it is read. */
export function tableSource({ blob, name }: NamedFile, beside: () => NamedFile | null): Source {
  return {
    name,
    size: blob.size,
    read: async (choice: ReadChoice, onBytes) => {
      const subjects = choice.origin?.startsWith("column:") ? await subjectsIn(beside()) : {};
      const { unitColumns: _, ...asRead } = choice;
      const options = { ...asRead, ...subjects, ...(await unitsOf(choice)), onBad: "leave-out", file: name } as const;
      return readCohortFile(sourceOf(blob, name, onBytes), options);
    },
  };
}

/** The table beside the visits, where origins of time may stand. */
async function subjectsIn(beside: NamedFile | null): Promise<Pick<ReadCohortOptions, "subjects">> {
  if (beside === null) return {};
  const { table } = await readSubjectsFile(sourceOf(beside.blob, beside.name), { file: beside.name });
  return { subjects: table };
}

/** Converters of values that come in several units, one for each marker, as on the command line. */
async function unitsOf(choice: ReadChoice): Promise<Pick<ReadCohortOptions, "units">> {
  const { unitColumns, marker = {}, markers, columns } = choice;
  if (unitColumns === undefined) return {};
  const { createConverter, findAnalyte } = await import("@trajectory-maps/core/units");
  const converters = (markers ?? [{ column: columns?.value, ...marker }]).map(({ name, column, unit = "" }) => {
    const analyte = [name, column].find((known) => known !== undefined && findAnalyte(known) !== undefined);
    return createConverter({ ...(unit === "" ? {} : { to: unit }), ...(analyte === undefined ? {} : { analyte }) });
  });
  return { units: { converters, columns: unitColumns } };
}

/** Files of FHIR resources, read together. */
export function fhirSource(files: readonly NamedFile[]): Source {
  return {
    name: files.length === 1 ? files[0]!.name : `${files.length} files of FHIR`,
    size: files.reduce((sum, { blob }) => sum + blob.size, 0),
    read: async (choice, onBytes) => {
      const { readFhir } = await import("@trajectory-maps/core/fhir");
      const { fhir, keepRepeats = false } = choice as FhirChoice;
      const { told, notes, ...read } = await readFhir(sourcesOf(files, onBytes), {
        ...fhir,
        keepRepeats,
        onBad: "leave-out",
      });
      // What may be asked for instead has flags on the command line and controls here.
      const words = told.map(({ count, what, done }) => `${count} ${what}: ${done}.`);
      return { ...read, told, notes: [...words, ...notes.slice(told.length)] };
    },
  };
}

/** The codes that files of FHIR resources can be asked for. */
export async function codesOf(
  files: readonly NamedFile[],
  rules: FhirRules,
  onBytes: (bytes: number) => void,
): Promise<FhirListing> {
  const { listFhirCodes } = await import("@trajectory-maps/core/fhir");
  return listFhirCodes(sourcesOf(files, onBytes), rules);
}

/** The files one after the other; `onBytes` is told the bytes of all that came so far. */
function* sourcesOf(files: readonly NamedFile[], onBytes: (bytes: number) => void): Generator<FhirSource> {
  let before = 0;
  for (const { blob, name } of files) {
    const start = before;
    yield { name, bytes: sourceOf(blob, name, (bytes) => onBytes(start + bytes)) };
    before += blob.size;
  }
}
