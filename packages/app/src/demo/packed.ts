/** The packed demo map that the build left beside the pages; without a build (tests, a dev server) there is none. */
const files = import.meta.glob<string>("../../dist/demo/*.json", { query: "?raw", import: "default" });

/** The text for `WorkerApi.demo`, or null. */
export async function packedDemo(): Promise<string | null> {
  const load = Object.values(files)[0];
  return load === undefined ? null : load();
}
