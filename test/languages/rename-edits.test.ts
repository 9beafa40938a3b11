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
  return typeof edits === 'string' ? edits : edits.map((file) => [file.path, file.apply(text)]);
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
});
