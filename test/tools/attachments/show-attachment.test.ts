import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { AttachmentDetails, AttachPort } from '../../../src/protocol/attachment.ts';
import { gifOf, pdfOf, pngOf } from '../../pictures.ts';
import { makeWorkspace } from '../workspace.ts';

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Accepts every attachment and records the calls. */
function taking(asked: AttachmentDetails[] = [], kept: Buffer[] = []): AttachPort {
  return {
    refusal: async (facts) => {
      asked.push(facts);
      return null;
    },
    add: async (facts, bytes) => {
      kept.push(bytes);
      return { ...facts, tokens: 7, blob: sha256(bytes) };
    },
    addAgain: async () => null,
  };
}

test('a file is attached, described, and remembered as read', async () => {
  const at = makeWorkspace();
  const png = pngOf(4, 3);
  const path = at.write('a.png', png);
  const kept: Buffer[] = [];
  const hash = sha256(png);
  const facts = { type: 'image/png', bytes: png.length, width: 4, height: 3 };
  expect(await at.call('Read', { file_path: 'a.png' }, { attach: taking([], kept) })).toEqual({
    text: `a.png: PNG image, 4 × 3 pixels, ${png.length} bytes`,
    attachments: [{ ...facts, tokens: 7, blob: hash }],
    facts: { read: [{ path, hash }] },
  });
  expect(kept).toEqual([png]);
  expect(at.context.files.seen(path)).toBe(hash);
});

test.each<readonly [string, Buffer, string]>([
  [
    'wider than any provider takes',
    pngOf(8001, 1),
    'PNG image, 8001 × 1 pixels, 103 bytes. Not shown: it has more than 8000 pixels on a side (limit image_pixels). Scale it down first, or cut out what matters.',
  ],
  [
    'of more pages than any provider takes',
    pdfOf(101),
    'PDF document, 101 pages, 5709 bytes. Not shown: it has more than 100 pages (limit pdf_pages). Extract the pages that matter into a smaller file first. For its text use a program, such as pdftotext (Bash).',
  ],
  [
    'cut off',
    gifOf(2, 2).subarray(0, 30),
    'GIF image, 2 × 2 pixels, 30 bytes. Not shown: it is cut off. Look at it with a program (Bash).',
  ],
])('%s: one line gives the reason', async (_, bytes, text) => {
  const at = makeWorkspace();
  const path = at.write('a', bytes);
  const kept: Buffer[] = [];
  expect(await at.call('Read', { file_path: 'a' }, { attach: taking([], kept) })).toEqual({
    text: `a: ${text}`,
    error: 'INVALID_PARAM',
  });
  expect(kept).toEqual([]);
  expect(at.context.files.seen(path)).toBeUndefined();
});

test('a file that the model does not accept is not read, and the reason is given', async () => {
  const at = makeWorkspace();
  at.write('a.pdf', pdfOf(1));
  const attach = { ...taking(), refusal: async () => 'it takes none' };
  expect(await at.call('Read', { file_path: 'a.pdf' }, { attach })).toEqual({
    text: 'a.pdf: PDF document, 211 bytes. Not shown: it takes none. For its text use a program, such as pdftotext (Bash).',
    error: 'INVALID_PARAM',
  });
  expect((await at.call('Read', { file_path: 'a.pdf' })).text).toContain(
    'attachments cannot be shown here',
  );
});

test('only the beginning of a huge file is read', async () => {
  const at = makeWorkspace();
  const file = openSync(at.path('a.png'), 'w');
  writeSync(file, pngOf(4, 3));
  ftruncateSync(file, 4 * 2 ** 30);
  closeSync(file);
  const asked: AttachmentDetails[] = [];
  const { text } = await at.call('Read', { file_path: 'a.png' }, { attach: taking(asked) });
  expect(text).toBe(
    'a.png: PNG image, 4 × 3 pixels, 4294967296 bytes. Not shown: it has more than 3932160 bytes (limit image_bytes). Make a smaller one of it first.',
  );
  expect(asked).toEqual([]);
});
