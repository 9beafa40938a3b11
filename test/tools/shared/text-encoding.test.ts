import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ByteCensus,
  decodeText,
  encodeText,
  detectEncoding,
  Transcoder,
  type TextEncoding,
} from '../../../src/tools/shared/text-encoding.ts';
import { makeWorkspace, type Workspace } from '../workspace.ts';

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A file in each encoding, and the note that Read adds to its lines. */
const FILES: readonly (readonly [string, Buffer, string])[] = [
  ['UTF-8', Buffer.from('Grüße\nzwei\n'), ''],
  ['UTF-8 with a mark', Buffer.from('\uFEFFGrüße\nzwei\n'), ''],
  [
    'UTF-16LE',
    wide('\uFEFFGrüße\r\nzwei\r\n', 'LE'),
    '\n[the file is UTF-16LE, which Edit and Write keep]',
  ],
  [
    'UTF-16BE',
    wide('\uFEFFGrüße\nzwei\n', 'BE'),
    '\n[the file is UTF-16BE, which Edit and Write keep]',
  ],
  [
    'windows-1252',
    Buffer.from('Gr\xfc\xdfe\r\nzwei\r\n', 'latin1'),
    '\n[the file is not UTF-8: read as windows-1252 (Latin-1), which Edit and Write keep]',
  ],
];

function wide(text: string, order: 'LE' | 'BE'): Buffer {
  const bytes = Buffer.from(text, 'utf16le');
  return order === 'LE' ? bytes : bytes.swap16();
}

/** Replaces a part of a file's bytes. */
function spliced(bytes: Buffer, from: Buffer, to: Buffer): Buffer {
  const at = bytes.indexOf(from);
  expect(at).toBeGreaterThan(-1);
  return Buffer.concat([bytes.subarray(0, at), to, bytes.subarray(at + from.length)]);
}

function inEncoding(name: string, text: string): Buffer {
  if (name === 'UTF-16LE') return wide(text, 'LE');
  if (name === 'UTF-16BE') return wide(text, 'BE');
  return Buffer.from(text, name === 'windows-1252' ? 'latin1' : 'utf8');
}

async function opened(content: Buffer): Promise<Workspace & { readonly file: string }> {
  const at = makeWorkspace();
  const file = at.write('a.txt', content);
  await at.call('Read', { file_path: 'a.txt' });
  return { ...at, file };
}

describe.each(FILES)('a file in %s', (name, content, note) => {
  test('is shown as text', async () => {
    const at = await opened(content);
    expect(await at.call('Read', { file_path: 'a.txt' })).toEqual({
      text: `1\tGrüße\n2\tzwei${note}`,
      facts: { read: [{ path: at.file, hash: sha256(content) }] },
    });
    // Bytes are counted in UTF-8, as the text is shown, with the CR of the line end.
    const bytes = content.toString('latin1').includes('\r') ? 8 : 7;
    expect((await at.call('Read', { file_path: 'a.txt', offset: 1, column: 3 })).text).toBe(
      `1\tüße\n[line 1, bytes 3 to ${bytes} of ${bytes}]${note}`,
    );
  });

  test('is edited in that encoding and keeps every other byte', async () => {
    const at = await opened(content);
    const kept: Buffer[] = [];
    const keepFormer = async (bytes: Buffer) => void kept.push(bytes);
    const edit = { file_path: 'a.txt', old_string: 'üße\nzw', new_string: 'öße\ndr' };
    const end = content.toString('latin1').includes('\r') ? '\r\n' : '\n';
    const expected = spliced(
      content,
      inEncoding(name, `üße${end}zw`),
      inEncoding(name, `öße${end}dr`),
    );
    expect(await at.call('Edit', edit, { keepFormer })).toEqual({
      text: 'Edited a.txt: 1 replacement at line 1.',
      facts: { changed: [{ path: at.file, before: sha256(content), after: sha256(expected) }] },
    });
    expect(readFileSync(at.file)).toEqual(expected);
    expect(kept).toEqual([content]);
    // The task knows what it wrote, and its next edit is refused after somebody else changed the file.
    const again = { file_path: 'a.txt', edits: [{ old_string: 'drei', new_string: 'vier' }] };
    expect(await at.call('MultiEdit', again)).not.toHaveProperty('error');
    at.write('a.txt', content);
    expect(await at.call('MultiEdit', again)).toMatchObject({ error: 'CONFLICT' });
  });

  test('is replaced in that encoding', async () => {
    const at = await opened(content);
    await at.call('Write', { file_path: 'a.txt', content: 'Öl\n' });
    const end = content.toString('latin1').includes('\r') ? '\r\n' : '\n';
    const mark = decodeText(
      content,
      name.startsWith('UTF-8') ? 'UTF-8' : (name as TextEncoding),
    ).startsWith('\uFEFF')
      ? '\uFEFF'
      : '';
    expect(readFileSync(at.file)).toEqual(inEncoding(name, `${mark}Öl${end}`));
  });
});

test('a character that the encoding lacks is an error that names it and changes nothing', async () => {
  const content = Buffer.from('Gr\xfc\xdfe\nzwei\n', 'latin1');
  const at = await opened(content);
  const edit = { file_path: 'a.txt', old_string: 'zwei', new_string: 'zwei → 2' };
  const problem =
    'a.txt: line 2 would hold → (U+2192), which the encoding of the file, windows-1252, does not have. Nothing was changed. Use other characters, or convert the file to UTF-8 first (iconv, in Bash).';
  expect(await at.call('Edit', edit)).toEqual({ text: problem, error: 'INVALID_PARAM' });
  expect(await at.call('Write', { file_path: 'a.txt', content: 'a\n→' })).toEqual({
    text: problem,
    error: 'INVALID_PARAM',
  });
  expect(readFileSync(at.file)).toEqual(content);
  const dash = { file_path: 'a.txt', old_string: 'zwei', new_string: '“zwei” – €' };
  expect(await at.call('Edit', dash)).not.toHaveProperty('error');
  expect(readFileSync(at.file)).toEqual(
    Buffer.from('Gr\xfc\xdfe\n\x93zwei\x94 \x96 \x80\n', 'latin1'),
  );
});

test('half of a surrogate pair is never written', async () => {
  const at = makeWorkspace();
  expect(await at.call('Write', { file_path: 'new.txt', content: 'a\n\uD83D' })).toEqual({
    text: 'new.txt: line 2 would hold half of a character (U+D83D), which the encoding of the file, UTF-8, does not have. Nothing was changed. Use other characters.',
    error: 'INVALID_PARAM',
  });
});

const ENCODINGS: readonly TextEncoding[] = ['UTF-8', 'UTF-16LE', 'UTF-16BE', 'windows-1252'];
const LETTERS = ['a', '\n', '\r', 'ü', '€', '’', ' '];

test.each(ENCODINGS)(
  'any text in %s is what it was after it was decoded and encoded',
  (encoding) => {
    const more = encoding === 'windows-1252' ? [] : ['→', '😀', 'e\u0301'];
    const text = fc.string({ unit: fc.constantFrom(...LETTERS, ...more) });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 5 }), (each, size) => {
        const marked = encoding.startsWith('UTF-16') ? `\uFEFF${each}` : each;
        const bytes = encodeText('a', marked, encoding);
        expect(decodeText(bytes, encoding)).toBe(marked);
        const transcoder = new Transcoder(encoding);
        const parts: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size)
          parts.push(transcoder.push(bytes.subarray(at, at + size)));
        expect(Buffer.concat([...parts, transcoder.end()]).toString()).toBe(each);
      }),
    );
  },
);

test('every byte of windows-1252 that is a character is kept', () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const used = bytes.filter((byte) => ![0x81, 0x8d, 0x8f, 0x90, 0x9d].includes(byte));
  expect(encodeText('a', decodeText(Buffer.from(used), 'windows-1252'), 'windows-1252')).toEqual(
    Buffer.from(used),
  );
});

test.each<[string, Buffer, TextEncoding | null]>([
  ['ASCII', Buffer.from('abc'), 'UTF-8'],
  ['Latin-1', Buffer.from('caf\xe9', 'latin1'), 'windows-1252'],
  ['damaged UTF-8', Buffer.concat([Buffer.from('éüö'), Buffer.from([0xff])]), null],
  ['a byte that windows-1252 does not have', Buffer.from('a\x81b\xe9', 'latin1'), null],
  ['UTF-16 without a pair', Buffer.from('fffe00d8', 'hex'), null],
])('%s is recognized', (_, bytes, encoding) => {
  expect(detectEncoding(bytes)).toBe(encoding);
});

test('the byte census does not depend on how the bytes are split', () => {
  const byte = fc.constantFrom(0x41, 0x81, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0xff);
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 12 }), fc.integer({ min: 1, max: 4 }), (all, size) => {
      const bytes = Buffer.from(all);
      const [whole, parts] = [new ByteCensus(), new ByteCensus()];
      whole.add(bytes);
      for (let at = 0; at < bytes.length; at += size) parts.add(bytes.subarray(at, at + size));
      expect(parts.isWindows1252).toBe(whole.isWindows1252);
    }),
  );
});
