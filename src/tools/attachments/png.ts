import { crc32 } from 'node:zlib';
import type { FileLook, Looked } from './image-formats.ts';

/** The eight bytes that each such file begins with. */
const SIGNATURE = 8;
/** Length, type and checksum around the data of a chunk. */
const FRAME = 12;

/** https://www.w3.org/TR/png-3/ */
export const png: FileLook = {
  begins: (head) => head.subarray(0, SIGNATURE).toString('hex') === '89504e470d0a1a0a',
  size(head) {
    if (head.length < 24 || head.toString('latin1', 12, 16) !== 'IHDR') return null;
    return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
  },
  look(bytes): Looked {
    let hasData = false;
    for (let at = SIGNATURE; at + FRAME <= bytes.length;) {
      const length = bytes.readUInt32BE(at);
      const type = bytes.toString('latin1', at + 4, at + 8);
      const end = at + FRAME + length;
      if (end > bytes.length) return { flaw: 'it breaks off' };
      const sum = crc32(bytes.subarray(at + 4, end - 4));
      if (sum !== bytes.readUInt32BE(end - 4)) return { flaw: 'it is damaged' };
      if (type === 'IEND') return hasData ? {} : { flaw: 'there is no picture in it' };
      hasData ||= type === 'IDAT';
      at = end;
    }
    return { flaw: 'it breaks off' };
  },
};
