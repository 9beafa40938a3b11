import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  detectAttachment,
  inspectAttachment,
} from '../../../src/tools/attachments/inspect-file.ts';
import { gifOf, jpegOf, pdfOf, pngChunk, pngOf, webpOf } from '../../pictures.ts';

const WHOLE: readonly (readonly [string, Buffer, object])[] = [
  ['PNG', pngOf(30, 20), { type: 'image/png', width: 30, height: 20 }],
  ['JPEG', jpegOf(640, 480), { type: 'image/jpeg', width: 640, height: 480 }],
  ['GIF', gifOf(5, 6, 1), { type: 'image/gif', width: 5, height: 6, frames: 1 }],
  ['GIF that moves', gifOf(5, 6, 3), { type: 'image/gif', width: 5, height: 6, frames: 3 }],
  ['WebP', webpOf(700, 8), { type: 'image/webp', width: 700, height: 8 }],
  ['PDF', pdfOf(3), { type: 'application/pdf', pages: 3 }],
];

test.each(WHOLE)('%s: its type and size', (_, bytes, facts) => {
  expect(inspectAttachment(bytes)).toEqual({ ...facts, bytes: bytes.length });
  const { frames: _frames, pages: _pages, ...first } = { frames: 0, pages: 0, ...facts };
  expect(detectAttachment(bytes.subarray(0, 64), bytes.length)).toMatchObject({
    ...first,
    bytes: bytes.length,
  });
});

test.each(WHOLE)('%s: a file that is cut off anywhere is not taken for complete', (_, bytes) => {
  for (let length = 0; length < bytes.length - 2; length += 1) {
    expect(inspectAttachment(bytes.subarray(0, length))).toBeTypeOf('string');
  }
});

const CHANGED = (bytes: Buffer, at: number, to: number): Buffer => {
  const changed = Buffer.from(bytes);
  changed[at] = to;
  return changed;
};

test.each<readonly [string, Buffer, string]>([
  ['a bit that has flipped in a PNG', CHANGED(pngOf(9, 9), 45, 1), 'it is damaged'],
  ['a PNG without a picture', noPicture(), 'it contains no picture'],
  ['a PNG without width', CHANGED(CHANGED(pngOf(9, 9), 19, 0), 29, 0), 'it is damaged'],
  ['a JPEG that gives no size', Buffer.from('ffd8ffdaffd9', 'hex'), 'it does not give its size'],
  ['a JPEG without height', jpegOf(9, 0), 'it does not give its size'],
  ['a GIF of unknown blocks', CHANGED(gifOf(9, 9), 19, 7), 'it is damaged'],
  ['a WebP that claims 4 GB', CHANGED(webpOf(9, 9), 7, 0xff), 'it is cut off'],
  ['a PDF that is encrypted', pdfOf(1, '/Encrypt 9 0 R'), 'it is encrypted'],
])('%s', (_, bytes, flaw) => {
  expect(inspectAttachment(bytes)).toBe(flaw);
});

function noPicture(): Buffer {
  const png = pngOf(9, 9);
  return Buffer.concat([png.subarray(0, 33), pngChunk('IEND', Buffer.alloc(0))]);
}

test('pages whose number only the page tree gives', () => {
  const packed = '%PDF-1.5\n1 0 obj <</Type/Pages/Count 12/Kids[3 0 R]>> endobj\n%%EOF';
  expect(inspectAttachment(Buffer.from(packed))).toMatchObject({ pages: 12 });
  const linear = '%PDF-1.5\n1 0 obj <</Linearized 1/L 99/N 7/O 3>> endobj\n%%EOF';
  expect(inspectAttachment(Buffer.from(linear))).toMatchObject({ pages: 7 });
  expect(inspectAttachment(Buffer.from('%PDF-1.5\nnothing in the open\n%%EOF'))).toEqual({
    type: 'application/pdf',
    bytes: 34,
  });
});

test('any bytes give a description or a flaw, and nothing is thrown', () => {
  const heads = WHOLE.map(([, bytes]) => bytes);
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .tuple(fc.constantFrom(...heads), fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 12 }))
      .map(([whole, at, put]) => {
        const changed = Buffer.from(whole);
        changed.set(put, Math.min(at % whole.length, whole.length - put.length));
        return changed;
      }),
    fc
      .tuple(fc.constantFrom(...heads), fc.nat({ max: 20 }), fc.uint8Array({ maxLength: 300 }))
      .map(([whole, keep, rest]) => Buffer.concat([whole.subarray(0, keep), rest])),
  );
  fc.assert(
    fc.property(bytes, (raw) => {
      const file = Buffer.from(raw);
      const announced = detectAttachment(file.subarray(0, 64), file.length);
      const whole = inspectAttachment(file);
      if (typeof whole === 'string') {
        expect(whole).not.toBe('');
        return;
      }
      expect(whole.bytes).toBe(file.length);
      expect(announced?.type).toBe(whole.type);
      if (whole.type === 'application/pdf') return;
      expect(whole.width).toBeGreaterThan(0);
      expect(whole.height).toBeGreaterThan(0);
    }),
    { numRuns: 3000 },
  );
});
