import { expect, it } from 'vitest';
import { applyChunks } from '../../../src/tools/patch/apply-chunks.ts';
import { parsePatch, type PatchChunk } from '../../../src/protocol/patch.ts';

/** Reads the changes of a patch of one file. */
function chunksOf(changes: string): readonly PatchChunk[] {
  const parsed = parsePatch(`*** Begin Patch\n*** Update File: f\n${changes}\n*** End Patch`);
  const file = parsed.ok ? parsed.files[0] : undefined;
  if (file?.kind !== 'update') throw new Error(JSON.stringify(parsed));
  return file.chunks;
}

const apply = (text: string, changes: string) => applyChunks(text, chunksOf(changes), '\n');

it.each([
  ['replaces a line', 'a\nb\nc\n', ' a\n-b\n+B', 'a\nB\nc\n', [1], []],
  [
    'finds a line below the lines of @@',
    'x\nclass A\nx\ndef f\nx\n',
    '@@ class A\n@@ def f\n-x\n+y',
    'x\nclass A\nx\ndef f\ny\n',
    [5],
    [],
  ],
  ['adds below a line of @@', 'a\nb\n', '@@ a\n+new', 'a\nnew\nb\n', [2], []],
  ['adds at the end', 'a\n', '+new', 'a\nnew\n', [2], []],
  ['adds to an empty file', '', '+new', 'new\n', [1], []],
  ['prefers the end of the file', 'x\ny\nx\n', '-x\n+z\n*** End of File', 'x\ny\nz\n', [3], []],
  ['keeps a missing last line end', 'a\nb', '-b\n+c', 'a\nc', [2], []],
  ['keeps the line ends of other lines', 'a\r\nb\r\nc\n', '-c\n+d', 'a\r\nb\r\nd\n', [3], []],
  ['removes everything', 'a\n', '-a', '', [1], []],
  [
    'disregards indentation, and keeps that of kept lines',
    '\tif x:\n\t\ty()\n',
    ' if x:\n-  y()\n+\t\tz()',
    '\tif x:\n\t\tz()\n',
    [1],
    ['lines 1 to 2 found without regard to indentation'],
  ],
  [
    'disregards forms of quotes',
    '“a” – b\n',
    '-"a" - b\n+c',
    'c\n',
    [1],
    ['line 1 found without regard to the forms of quotes, dashes and spaces'],
  ],
  [
    'takes the first of several places',
    'x\ny\nx\n',
    '-x\n+z',
    'z\ny\nx\n',
    [1],
    ['the first match was changed, line 1; the same lines occur again at line 3'],
  ],
] as const)('%s', (_title, text, changes, result, lines, notes) => {
  expect(apply(text, changes)).toEqual({ ok: true, text: result, lines, notes });
});

it('adds lines with the line end of the file', () => {
  expect(applyChunks('a\r\n', chunksOf('+b'), '\r\n')).toMatchObject({ text: 'a\r\nb\r\n' });
});

it.each([
  ['a\n', '-b\n+c', 3, 'the file does not have the line "b"'],
  ['a\nb\n', ' a\n-c\n+d', 3, 'at line 2 the patch expects "c", and the file has "b"'],
  ['a\n', ' a\n-c\n+d', 3, 'at line 2 the patch expects "c", and the file ends'],
  ['a\n', '@@ z\n-a\n+b', 3, 'the file does not have the line of @@ "z"'],
  [
    'b\na\n',
    '-a\n+A\n@@\n-b\n+B',
    5,
    'the lines are not below line 2, but at line 1: give the changes of a file in the order of its lines',
  ],
  [
    'b\na\n',
    '-a\n+A\n@@ b\n+B',
    5,
    'below line 2 there is not the line of @@ "b", but at line 1: give the changes of a file in the order of its lines',
  ],
] as const)('says where a change does not fit: %j with %j', (text, changes, line, problem) => {
  expect(apply(text, changes)).toEqual({ ok: false, line, problem });
});

it('changes a line of a file with very many lines', () => {
  const count = 300_000;
  expect(apply('x\n'.repeat(count), '-x\n+y')).toMatchObject({
    ok: true,
    lines: [1],
    text: `y\n${'x\n'.repeat(count - 1)}`,
  });
});

it('names the place that fits best in a file whose lines are all the same', () => {
  expect(apply('x\n'.repeat(60_000), `${' x\n'.repeat(20_000)}-z`)).toEqual({
    ok: false,
    line: 3,
    problem: 'at line 20001 the patch expects "z", and the file has "x"',
  });
});
