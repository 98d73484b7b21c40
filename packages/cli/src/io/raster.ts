/** PNG from SVG, if the optional package is there. */

export type Rasterizer = (svg: string, widthPixels: number) => Uint8Array;

/** The rasterizer, or undefined where its package is not installed. */
export async function loadRasterizer(): Promise<Rasterizer | undefined> {
  try {
    const { Resvg } = await import("@resvg/resvg-js");
    return (svg, widthPixels) => new Resvg(svg, { fitTo: { mode: "width", value: widthPixels } }).render().asPng();
  } catch {
    return undefined;
  }
}
