import { crc32, deflateSync } from 'node:zlib';

/** Files of each kind that can be shown, made byte by byte: small, whole, and told apart by `seed`. */

export function pngOf(width: number, height: number, seed = 0): Buffer {
  const rows = Buffer.alloc((width * 3 + 1) * height, seed);
  for (let row = 0; row < height; row += 1) rows[row * (width * 3 + 1)] = 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Headers as they are; the picture itself is no picture. */
export function jpegOf(width: number, height: number, seed = 0): Buffer {
  const frame = Buffer.from('ffc0001108000000000301220002110103110111'.slice(0, 38), 'hex');
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([
    Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
    frame,
    Buffer.from('ffda000c03010002110311003f00', 'hex'),
    Buffer.alloc(40, seed),
    Buffer.from('ffd9', 'hex'),
  ]);
}

export function gifOf(width: number, height: number, frames = 1): Buffer {
  const screen = Buffer.from('474946383961000000008000000000ffffff', 'hex').subarray(0, 13);
  screen.writeUInt16LE(width, 6);
  screen.writeUInt16LE(height, 8);
  const picture = Buffer.from('2c00000000010001000002024401003b', 'hex').subarray(0, 15);
  return Buffer.concat([
    screen,
    Buffer.alloc(6),
    ...Array.from({ length: frames }, () => picture),
    Buffer.from([0x3b]),
  ]);
}

export function webpOf(width: number, height: number): Buffer {
  const data = Buffer.alloc(10);
  data[0] = 0x2f;
  data.writeUInt32LE(((height - 1) << 14) | (width - 1), 1);
  const head = Buffer.alloc(20);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(22, 4);
  head.write('WEBPVP8L', 8, 'latin1');
  head.writeUInt32LE(data.length, 16);
  return Buffer.concat([head, data]);
}

export function pdfOf(pages: number, extra = ''): Buffer {
  const kids = Array.from({ length: pages }, (_, at) => `${at + 3} 0 R`).join(' ');
  const each = Array.from(
    { length: pages },
    (_, at) => `${at + 3} 0 obj\n<< /Type /Page /Parent 2 0 R >>\nendobj\n`,
  );
  return Buffer.from(
    `%PDF-1.7\n%\u00e2\u00e3\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n` +
      `2 0 obj\n<< /Type /Pages /Kids [${kids}] /Count ${pages} >>\nendobj\n${each.join('')}` +
      `trailer\n<< /Root 1 0 R ${extra} >>\nstartxref\n0\n%%EOF\n`,
    'latin1',
  );
}
