import { describe, expect, it } from 'vitest';
import { readRenameEdits } from '../../src/languages/rename-edits.ts';

function edit(line: number, from: number, to: number, newText = 'new') {
  return {
    range: { start: { line, character: from }, end: { line, character: to } },
    newText,
  };
}

function apply(result: unknown, text: string): unknown {
  const edits = readRenameEdits(result);
  return typeof edits === 'string'
    ? edits
    : edits.map((file) => [file.path, file.apply(text, 'old')]);
}

function wholeText(lines: number, newText: string) {
  return {
    range: { start: { line: 0, character: 0 }, end: { line: lines, character: 0 } },
    newText,
  };
}

const REFUSED = 'the rename would do more than change the text of files. Nothing was changed.';

describe('the edits of a rename', () => {
  it.each<[string, unknown, unknown]>([
    [
      'in both forms of the protocol',
      { changes: { 'file:///a': [edit(1, 2, 5), edit(0, 0, 3)] } },
      [['/a', 'new b\n  new()\n']],
    ],
    [
      'with the versions of documents',
      { documentChanges: [{ textDocument: { uri: 'file:///a' }, edits: [edit(0, 0, 3)] }] },
      [['/a', 'new b\n  old()\n']],
    ],
    ['are none without an answer', null, []],
    [
      'fail if they overlap',
      { changes: { 'file:///a': [edit(0, 0, 3), edit(0, 2, 4)] } },
      [['/a', null]],
    ],
    [
      'may replace the text as a whole',
      { changes: { 'file:///a': [wholeText(2, 'new b\n  new()\n')] } },
      [['/a', 'new b\n  new()\n']],
    ],
    [
      'may not add lines',
      { changes: { 'file:///a': [edit(1, 2, 5, 'new()\n  evil')] } },
      [['/a', null]],
    ],
    [
      'may not replace another name, which happens when the server knows another text',
      { changes: { 'file:///a': [edit(0, 4, 5)] } },
      [['/a', null]],
    ],
    [
      'may insert text beside a name',
      { changes: { 'file:///a': [edit(0, 0, 0, 'new: ')] } },
      [['/a', 'new: old b\n  old()\n']],
    ],
    [
      'fail at a position that no line has',
      { changes: { 'file:///a': [edit(1, -6, -3)] } },
      REFUSED,
    ],
    [
      'fail beyond the end of a line',
      { changes: { 'file:///a': [edit(0, 8, 11)] } },
      [['/a', null]],
    ],
    ['fail beyond the end', { changes: { 'file:///a': [edit(9, 0, 3)] } }, [['/a', null]]],
    ['are refused if files are moved', { documentChanges: [{ kind: 'rename' }] }, REFUSED],
    [
      'are refused for other places than files',
      { changes: { 'http://a': [edit(0, 0, 3)] } },
      REFUSED,
    ],
    ['are refused if they are malformed', { changes: { 'file:///a': [{ newText: 7 }] } }, REFUSED],
  ])('%s', (_, result, expected) => {
    expect(apply(result, 'old b\n  old()\n')).toEqual(expected);
  });

  it('count columns with or without the mark of the byte order, as the server does', () => {
    const replace = (from: number) => ({ changes: { 'file:///a': [edit(0, from, from + 3)] } });
    for (const from of [0, 1]) {
      expect(apply(replace(from), '\uFEFFold()\n')).toEqual([['/a', '\uFEFFnew()\n']]);
    }
    expect(apply(replace(2), '\uFEFFold()\n')).toEqual([['/a', null]]);
  });

  it('may end after a last line that has no end', () => {
    const result = { changes: { 'file:///a': [wholeText(2, 'new\nb')] } };
    expect(apply(result, 'old\nb')).toEqual([['/a', 'new\nb']]);
  });

  it('count a carriage return as the end of a line', () => {
    const result = { changes: { 'file:///a': [edit(2, 0, 3), edit(1, 0, 3)] } };
    expect(apply(result, 'b\r\nold\rold')).toEqual([['/a', 'b\r\nnew\rnew']]);
  });
});
