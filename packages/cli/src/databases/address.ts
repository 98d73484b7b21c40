/** Addresses of databases, and how they are told: without a password, ever. */

export function isPostgres(address: string): boolean {
  return /^postgres(?:ql)?:/i.test(address);
}

/** An address as it may be printed and recorded: of PostgreSQL the name of the database alone. */
export function shownAddress(address: string): string {
  if (!isPostgres(address)) return address;
  try {
    return `postgres://${new URL(address).pathname}`;
  } catch {
    return "postgres:";
  }
}
