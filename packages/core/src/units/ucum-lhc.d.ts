/** The part of @lhncbc/ucum-lhc that is used; it brings no types. */
declare module "@lhncbc/ucum-lhc" {
  interface Unit {
    readonly dim_: { readonly dimVec_: readonly number[] | null } | null;
    readonly moleExp_: number;
    readonly isArbitrary_: boolean;
  }
  interface Converted {
    readonly status: "succeeded" | "failed" | "error";
    readonly toVal: number | null;
  }
  interface Utils {
    getSpecifiedUnit(code: string, purpose: "validate", suggest?: boolean): { readonly unit: Unit | null };
    convertUnitTo(
      from: string,
      value: number,
      to: string,
      options?: { readonly molecularWeight?: number; readonly charge?: number; readonly suggest?: boolean },
    ): Converted;
  }
  const ucum: { readonly UcumLhcUtils: { getInstance(): Utils } };
  export default ucum;
}
