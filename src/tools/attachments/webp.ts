import type { FileLook, Looked, PixelSize } from './image-formats.ts';

const FIRST_CHUNK = 12;

/** https://developers.google.com/speed/webp/docs/riff_container */
export const webp: FileLook = {
  begins: (head) => /^RIFF[^]{4}WEBP/.test(head.toString('latin1', 0, FIRST_CHUNK)),
  size,
  look,
};

function size(head: Buffer): PixelSize | null {
  if (head.length < 30) return null;
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const packed = head.readUInt32LE(21);
      return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
    default:
      return null;
  }
}

function look(bytes: Buffer): Looked {
  const end = bytes.readUInt32LE(4) + 8;
  if (end > bytes.length) return { flaw: 'it breaks off' };
  let frames = 0;
  let pictures = 0;
  for (let at = FIRST_CHUNK; at + 8 <= end;) {
    const type = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    if (at + 8 + length > end) return { flaw: 'it is damaged' };
    if (type === 'ANMF') frames += 1;
    if (type === 'VP8 ' || type === 'VP8L') pictures += 1;
    // Chunks begin at even places.
    at += 8 + length + (length % 2);
  }
  if (frames + pictures === 0) return { flaw: 'there is no picture in it' };
  return frames === 0 ? {} : { frames };
}
