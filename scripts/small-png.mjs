/**
 * A picture of the page as PNG with a palette of 256 colours: a third of the size, and no difference to be seen. The 160
 * most common colours stay exact (surfaces, text); the rest, edges of letters and dots, are cut into boxes at the median.
 */
import { deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const EXACT = 160;
const MOST = 256;

/** The picture with a palette. Takes 8-bit RGB or RGBA without interlacing, as Chromium writes it; opacity is dropped. */
export function smallPng(png) {
  const { width, height, pixels } = decode(png);
  const counts = new Map();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const byCount = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const palette = byCount.slice(0, EXACT).map(([colour]) => colour);
  for (const box of cut(byCount.slice(EXACT), MOST - palette.length)) palette.push(meanOf(box));
  const places = new Map(palette.map((colour, k) => [colour, k]));
  for (const [colour] of byCount) if (!places.has(colour)) places.set(colour, nearest(palette, colour));
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = places.get(pixels[y * width + x]);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits, palette.
  header.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((colour) => parts(colour)));
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", colours),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const parts = (colour) => [colour >> 16, (colour >> 8) & 255, colour & 255];

/** Boxes of colours with their counts: the one with the widest channel, by how much of the picture it covers, is halved. */
function cut(colours, most) {
  let boxes = colours.length === 0 ? [] : [colours];
  while (boxes.length < most) {
    const ranked = boxes.map((box) => ({ box, ...widest(box) })).sort((a, b) => b.weight - a.weight);
    const { box, channel, weight } = ranked[0] ?? { weight: 0 };
    if (!(weight > 0)) break;
    const sorted = box.slice().sort((a, b) => parts(a[0])[channel] - parts(b[0])[channel]);
    const half = sorted.reduce((sum, [, n]) => sum + n, 0) / 2;
    let at = 0;
    for (let sum = 0; at < sorted.length - 1 && sum + sorted[at][1] <= half; at++) sum += sorted[at][1];
    const middle = Math.max(1, at);
    boxes = [...boxes.filter((other) => other !== box), sorted.slice(0, middle), sorted.slice(middle)];
  }
  return boxes;
}

function widest(box) {
  const low = [255, 255, 255];
  const high = [0, 0, 0];
  let total = 0;
  for (const [colour, n] of box) {
    total += n;
    parts(colour).forEach((v, c) => {
      low[c] = Math.min(low[c], v);
      high[c] = Math.max(high[c], v);
    });
  }
  const spans = high.map((v, c) => v - low[c]);
  const span = Math.max(...spans);
  return { channel: spans.indexOf(span), weight: box.length < 2 ? 0 : span * span * Math.sqrt(total) };
}

function meanOf(box) {
  const sums = [0, 0, 0];
  let total = 0;
  for (const [colour, n] of box) {
    total += n;
    parts(colour).forEach((v, c) => {
      sums[c] += n * v;
    });
  }
  const [r, g, b] = sums.map((s) => Math.round(s / total));
  return (r << 16) | (g << 8) | b;
}

function nearest(palette, colour) {
  const [r, g, b] = parts(colour);
  let best = 0;
  let least = Infinity;
  palette.forEach((other, k) => {
    const [r2, g2, b2] = parts(other);
    const distance = (r - r2) ** 2 + (g - g2) ** 2 + (b - b2) ** 2;
    if (distance < least) [best, least] = [k, distance];
  });
  return best;
}

/** Width, height and colours as 0xRRGGBB. */
function decode(png) {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const channels = { 2: 3, 6: 4 }[png[25]];
  if (png[24] !== 8 || channels === undefined || png[28] !== 0) {
    throw new Error(
      `smallPng: expected 8-bit RGB or RGBA without interlacing, received ${png[24]} bits of kind ${png[25]}.`,
    );
  }
  const data = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const bytes = inflateSync(Buffer.concat(data));
  const stride = width * channels;
  const pixels = new Uint32Array(width * height);
  let above = new Uint8Array(stride);
  for (let y = 0; y < height; y++) {
    const from = y * (stride + 1);
    const row = Uint8Array.from(bytes.subarray(from + 1, from + 1 + stride));
    unfilter(bytes[from], row, above, channels);
    for (let x = 0; x < width; x++) {
      const k = x * channels;
      pixels[y * width + x] = (row[k] << 16) | (row[k + 1] << 8) | row[k + 2];
    }
    above = row;
  }
  return { width, height, pixels };
}

/** Undoes the filter of a row in place. */
function unfilter(kind, row, above, step) {
  for (let k = 0; k < row.length; k++) {
    const left = k < step ? 0 : row[k - step];
    const up = above[k];
    const corner = k < step ? 0 : above[k - step];
    row[k] += [0, left, up, (left + up) >> 1, paeth(left, up, corner)][kind];
  }
}

function paeth(left, up, corner) {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(checksum(body), 8 + data.length);
  return out;
}

function checksum(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
