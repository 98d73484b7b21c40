export interface DeclaredLayout {
  readonly name: string;
  readonly sizes: readonly string[];
  readonly buffers: { readonly [name: string]: object };
  readonly kernels: readonly string[];
}
export function readLayouts(): Promise<{ readonly layouts: readonly DeclaredLayout[]; readonly source: string }>;
export function bufferOf(declared: object): {
  readonly type: "f64" | "i32";
  readonly bytes: number;
  readonly length: string;
};
