import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { readOutputPart } from '../../../src/engine/task-tools/read-shell.ts';
import { ShellOutput } from '../../../src/engine/shells/background-shells.ts';

const directory = mkdtempSync(join(tmpdir(), 'muster-shell-output-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(content: string | Buffer): string {
  const path = join(directory, 'output');
  writeFileSync(path, content);
  return path;
}

describe('the output of a shell', () => {
  it.runIf(process.platform === 'linux')('is lost on a full disk, but the shell continues', () => {
    let stops = 0;
    const output = new ShellOutput('/dev/full', 10, () => void (stops += 1));
    for (const text of ['one', 'more than ten']) output.write(Buffer.from(text));
    output.close();
    expect(output.problem).toMatch(/ENOSPC/);
    expect(stops).toBe(0);
  });

  it('is kept up to the limit, to the byte', () => {
    const path = file('');
    let stops = 0;
    const output = new ShellOutput(path, 10, () => void (stops += 1));
    for (const text of ['12345', '67890']) output.write(Buffer.from(text));
    expect([output.problem, stops]).toEqual([null, 0]);
    for (const text of ['!', '!!']) output.write(Buffer.from(text));
    output.close();
    expect([output.problem, stops]).toEqual([
      'the output is more than the limit output.spill_bytes = 10',
      1,
    ]);
    expect(readOutputPart(path, 0, 100)).toMatchObject({ text: '1234567890', size: 10 });
  });

  it('does not follow a link, which is reported before the shell begins', () => {
    const path = join(directory, 'link');
    symlinkSync(file(''), path);
    expect(() => new ShellOutput(path, 10, () => {})).toThrow(
      /^The shell was not started, since its output file can't be opened: ELOOP/,
    );
  });
});

describe('a piece of output', () => {
  it.each([
    ['all of it', 'one\ntwo\n', null, 100, { text: 'one\ntwo', start: 0, end: 8, size: 8 }],
    [
      'its end from a line on',
      'one\ntwo\nthree\n',
      null,
      10,
      { text: 'three', start: 8, end: 14, size: 14 },
    ],
    [
      'its end within a long line',
      'a'.repeat(20),
      null,
      10,
      { text: 'a'.repeat(10), start: 10, end: 20, size: 20 },
    ],
    [
      'its start up to a line',
      'one\ntwo\nthree\n',
      0,
      10,
      { text: 'one\ntwo', start: 0, end: 8, size: 14 },
    ],
    [
      'from that line on',
      'one\ntwo\nthree\n',
      8,
      10,
      { text: 'three', start: 8, end: 14, size: 14 },
    ],
    ['nothing beyond the end', 'one\n', 9, 10, { text: '', start: 9, end: 9, size: 4 }],
    ['nothing of an empty file', '', null, 10, { text: '', start: 0, end: 0, size: 0 }],
    ['nothing beyond an empty file', '', 7, 10, { text: '', start: 7, end: 7, size: 0 }],
    [
      'no half of a character at the end',
      'ééééé',
      0,
      5,
      { text: 'éé', start: 0, end: 4, size: 10 },
    ],
    [
      'no half of a character at the start',
      'ééééé',
      null,
      5,
      { text: 'éé', start: 6, end: 10, size: 10 },
    ],
    [
      'no control characters for a terminal',
      'a\u001b[31mb\u0007\n',
      0,
      50,
      { text: 'ab', start: 0, end: 9, size: 9 },
    ],
  ])('%s', (_, content, offset, most, piece) => {
    expect(readOutputPart(file(content), offset, most)).toEqual({ ok: true, ...piece });
  });

  it('of a missing file says so', () => {
    expect(readOutputPart(join(directory, 'gone'), 0, 10)).toEqual({
      ok: false,
      problem: expect.stringContaining('ENOENT'),
    });
  });

  it('of a file that was cut says so', () => {
    const path = file('one\ntwo\n');
    truncateSync(path, 3);
    expect(readOutputPart(path, 4, 10)).toMatchObject({ text: '', size: 3 });
  });

  it('reads any text completely, piece by piece, and stays within the limit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 30 })),
        fc.integer({ min: 12, max: 60 }),
        (lines, most) => {
          const text = lines.map((line) => line.replace(/[\p{Cc}\u2028]/gu, '')).join('\n');
          const path = file(text);
          const pieces: string[] = [];
          for (let at = 0; at < Buffer.byteLength(text);) {
            const piece = readOutputPart(path, at, most);
            if (!piece.ok) throw new Error(piece.problem);
            expect(piece.start).toBe(at);
            expect(piece.end).toBeGreaterThan(at);
            pieces.push(piece.text);
            at = piece.end;
          }
          const bare = (all: string) => all.replace(/\s/g, '');
          expect(bare(pieces.join(''))).toBe(bare(text));
        },
      ),
    );
  });

  it('stays within the limit for bytes that are not text', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 3, max: 90 }),
        (bytes, most) => {
          const path = file(Buffer.from(bytes));
          let at = 0;
          while (at < bytes.length) {
            const piece = readOutputPart(path, at, most);
            if (!piece.ok) throw new Error(piece.problem);
            expect(Buffer.byteLength(piece.text)).toBeLessThanOrEqual(most);
            expect(piece.end).toBeGreaterThan(at);
            at = piece.end;
          }
        },
      ),
    );
  });
});
