/** Files made in the page and handed to the browser's own saving. */

/** Offers a file for saving under a name. */
export function saveFile(name: string, content: string | Uint8Array, type: string): void {
  const blob = new Blob([content as string | Uint8Array<ArrayBuffer>], { type });
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads the file after the click; a little later it is no longer needed.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** An SVG drawing as PNG bytes at a scale; drawn by the browser, so that it needs no library. */
export async function svgToPng(svg: string, scale = 2): Promise<Uint8Array> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(image.naturalWidth * scale);
  canvas.height = Math.round(image.naturalHeight * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  return blob === null ? new Uint8Array() : new Uint8Array(await blob.arrayBuffer());
}
