import type { FileLook, Looked, PixelSize } from './image-formats.ts';

const START_OF_SCAN = 0xda;
/** Markers that begin with C and are no frame header: tables and extensions. */
const NO_FRAME = new Set([0xc4, 0xc8, 0xcc]);
const END = Buffer.from([0xff, 0xd9]);

/** https://www.w3.org/Graphics/JPEG/itu-t81.pdf, annex B */
export const jpeg: FileLook = {
  begins: (head) => head.subarray(0, 3).toString('hex') === 'ffd8ff',
  size: (head) => walk(head).size,
  look(bytes): Looked {
    const { size, scan } = walk(bytes);
    if (size === null) return { flaw: 'it does not say its size' };
    if (scan === null) return { flaw: 'there is no picture in it' };
    return bytes.indexOf(END, scan) === -1 ? { flaw: 'it breaks off' } : {};
  },
};

/** Segments up to where the picture begins. */
function walk(bytes: Buffer): { readonly size: PixelSize | null; readonly scan: number | null } {
  let size: PixelSize | null = null;
  for (let at = 2; at + 4 <= bytes.length;) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) break;
    // Any number of these may stand before a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === START_OF_SCAN) return { size, scan: at };
    const isFrame = marker >= 0xc0 && marker <= 0xcf && !NO_FRAME.has(marker);
    if (isFrame && at + 9 <= bytes.length) {
      size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return { size, scan: null };
}
