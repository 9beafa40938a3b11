import type { FileLook, Looked } from './image-formats.ts';

const HEADER = 13;
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;

/** https://www.w3.org/Graphics/GIF/spec-gif89a.txt */
export const gif: FileLook = {
  begins: (head) => /^GIF8[79]a/.test(head.toString('latin1', 0, 6)),
  size: (head) =>
    head.length < HEADER ? null : { width: head.readUInt16LE(6), height: head.readUInt16LE(8) },
  look,
};

function look(bytes: Buffer): Looked {
  let frames = 0;
  let at = HEADER + colourTable(bytes[10] ?? 0);
  while (at < bytes.length) {
    const kind = bytes[at];
    if (kind === TRAILER) return frames === 0 ? { flaw: 'there is no picture in it' } : { frames };
    if (kind === EXTENSION) at = afterBlocks(bytes, at + 2);
    else if (kind === IMAGE) {
      frames += 1;
      at = afterBlocks(bytes, at + 11 + colourTable(bytes[at + 9] ?? 0));
    } else return { flaw: 'it is damaged' };
  }
  return { flaw: 'it breaks off' };
}

/** Bytes of the table that these flags announce. */
function colourTable(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/** Each block says its length; an empty one is the last. */
function afterBlocks(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length;) {
    const length = bytes[at] ?? 0;
    at += 1 + length;
    if (length === 0) return at;
  }
  return bytes.length;
}
