/** The checksum of model files and zip archives. */

/** CRC-32 (IEEE) of the bytes of arrays, one after the other, as eight hexadecimal digits. */
export function bytesChecksum(arrays: readonly ArrayBufferView[]): string {
  const table = Int32Array.from({ length: 256 }, (_, byte) => {
    for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
    return byte;
  });
  let crc = 0xffffffff;
  for (const { buffer, byteOffset, byteLength } of arrays) {
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    for (let k = 0; k < byteLength; k++) crc = (crc >>> 8) ^ table[(crc ^ bytes[k]) & 0xff];
  }
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
}
