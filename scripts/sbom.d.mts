export interface Component {
  readonly "bom-ref": string;
  readonly name: string;
  readonly scope: "required" | "optional" | "excluded";
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly object[];
  readonly properties: readonly { readonly name: string; readonly value: string }[];
}
export const NOTICES: Readonly<Record<"core" | "report" | "app" | "cli", readonly string[]>>;
export function packagesIn(notices: string): string[];
export function bundledIn(): Map<string, Set<string>>;
export function billOfMaterials(): { readonly components: readonly Component[] };
