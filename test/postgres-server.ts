/** A PostgreSQL server for one test: started in a folder of its own by a user other than root, and stopped with it. */
import { execFileSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** The folder of the server's programs; undefined where it is not installed. */
export function postgresPrograms(): string | undefined {
  const base = "/usr/lib/postgresql";
  const versions = existsSync(base) ? readdirSync(base).sort() : [];
  const places = [...versions.reverse().map((version) => join(base, version, "bin")), "/usr/local/bin", "/usr/bin"];
  return places.find((place) => existsSync(join(place, "initdb")) && existsSync(join(place, "pg_ctl")));
}

export async function startPostgres(programs: string): Promise<{ address: string; stop: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), "dtm-postgres-"));
  const data = join(folder, "data");
  // initdb and pg_ctl refuse root.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"]));
    chownSync(folder, idOf("-u"), idOf("-g"));
  }
  const run = (program: string, args: readonly string[]) => {
    const [first = "", ...rest] = [
      ...(isRoot ? ["runuser", "-u", "postgres", "--"] : []),
      join(programs, program),
      ...args,
    ];
    // A server keeps the pipes of whoever started it.
    execFileSync(first, rest, { cwd: folder, stdio: "ignore" });
  };
  const port = await freePort();
  run("initdb", ["-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync"]);
  const settings = `-c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c port=${port} -c fsync=off`;
  run("pg_ctl", ["-D", data, "-w", "-l", join(folder, "log"), "-o", settings, "start"]);
  const stop = () => {
    run("pg_ctl", ["-D", data, "-w", "-m", "immediate", "stop"]);
    rmSync(folder, { recursive: true, force: true });
  };
  return { address: `postgres://tester:secret@127.0.0.1:${port}/postgres`, stop };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
