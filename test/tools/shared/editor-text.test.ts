import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EditorPort } from '../../../src/protocol/tool.ts';
import { makeWorkspace } from '../workspace.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const NOTE =
  "[this is the text in the user's editor, which is not saved: commands and searches see the file on the disk]";

/** An editor with one open file, which it saves when it gets a new text. */
function openEditor(path: string, text: string, save = (given: string) => given) {
  const open = new Map([[path, text]]);
  const editor: Required<EditorPort> = {
    read: (asked) => Promise.resolve(open.get(asked) ?? null),
    write: (asked, given) => {
      open.set(asked, save(given));
      writeFileSync(asked, save(given));
      return Promise.resolve();
    },
  };
  return { editor, open };
}

describe('a file that the user has not saved in an editor', () => {
  test('is read and changed there, and its receipt has the texts of the editor', async () => {
    const at = makeWorkspace();
    const path = at.write('a.txt', 'saved\n');
    const { editor, open } = openEditor(path, 'typed\n');
    expect(await at.call('Read', { file_path: 'a.txt' }, { editor })).toEqual({
      text: `1\ttyped\n${NOTE}`,
      facts: { read: [{ path, hash: sha256('typed\n') }] },
    });
    const kept: string[] = [];
    const keepFormer = (bytes: Buffer) => Promise.resolve(void kept.push(String(bytes)));
    const edit = { file_path: 'a.txt', old_string: 'typed', new_string: 'edited' };
    expect(await at.call('Edit', edit, { editor, keepFormer })).toMatchObject({
      facts: { changed: [{ path, before: sha256('typed\n'), after: sha256('edited\n') }] },
    });
    expect([readFileSync(path, 'utf8'), open.get(path), kept]).toEqual([
      'edited\n',
      'edited\n',
      ['typed\n'],
    ]);
    // The editor has saved it, so the next change goes to the disk, and needs no Read in between.
    const next = { file_path: 'a.txt', old_string: 'edited', new_string: 'again' };
    expect((await at.call('Edit', next, { editor })).error).toBe(undefined);
  });

  test('is stale once the user has typed on', async () => {
    const at = makeWorkspace();
    const path = at.write('a.txt', 'saved\n');
    const { editor, open } = openEditor(path, 'typed\n');
    await at.call('Read', { file_path: 'a.txt' }, { editor });
    open.set(path, 'typed on\n');
    const edit = { file_path: 'a.txt', old_string: 'typed', new_string: 'edited' };
    expect(await at.call('Edit', edit, { editor })).toMatchObject({
      error: 'CONFLICT',
      text: 'a.txt has changed since it was read: Read it again before changing it.',
    });
    expect(readFileSync(path, 'utf8')).toBe('saved\n');
  });

  test('is not changed on the disk if the editor only reads, fails or lies', async () => {
    const at = makeWorkspace();
    const path = at.write('a.txt', 'saved\n');
    const { editor } = openEditor(path, 'typed\n');
    await at.call('Read', { file_path: 'a.txt' }, { editor });
    const edit = { file_path: 'a.txt', old_string: 'typed', new_string: 'edited' };
    const reading: EditorPort = { read: editor.read };
    expect(await at.call('Edit', edit, { editor: reading })).toMatchObject({
      error: 'CONFLICT',
      text: expect.stringContaining('ask the user to save it, then Read it again'),
    });
    const failing = { ...editor, write: () => Promise.reject(new Error('read only')) };
    expect(await at.call('Edit', edit, { editor: failing })).toMatchObject({
      error: 'CONFLICT',
      text: "a.txt: the user's editor could not change it: read only",
    });
    const lying = { ...editor, write: () => Promise.resolve() };
    expect(await at.call('Edit', edit, { editor: lying })).toMatchObject({
      text: expect.stringContaining('The editor has changed the text when it saved it'),
      facts: { changed: [{ after: sha256('saved\n'), unread: true }] },
    });
    expect(readFileSync(path, 'utf8')).toBe('saved\n');
  });

  test('must be read again if the editor formats it when it saves it', async () => {
    const at = makeWorkspace();
    const path = at.write('a.txt', 'saved\n');
    const { editor } = openEditor(path, 'typed\n', (given) => given.toUpperCase());
    await at.call('Read', { file_path: 'a.txt' }, { editor });
    const edit = { file_path: 'a.txt', old_string: 'typed', new_string: 'edited' };
    expect(await at.call('Edit', edit, { editor })).toMatchObject({
      text: expect.stringContaining('Read it again before you go on.'),
      facts: { changed: [{ after: sha256('EDITED\n'), unread: true }] },
    });
    expect((await at.call('Edit', edit, { editor })).error).toBe('CONFLICT');
  });
});

test('an editor that has a file as it is on the disk, or not at all, changes nothing', async () => {
  const line = fc.constantFrom('', 'a', 'grün', '\t"x"');
  const file = fc.record({
    lines: fc.array(line, { maxLength: 4 }),
    end: fc.constantFrom('\n', '\r\n'),
    mark: fc.constantFrom('', '\uFEFF'),
    isOpen: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(file, async ({ lines, end, mark, isOpen }) => {
      const at = makeWorkspace();
      const path = at.write('a.txt', mark + lines.map((each) => each + end).join(''));
      const { editor } = openEditor(
        isOpen ? path : '/elsewhere',
        lines.map((l) => `${l}\n`).join(''),
      );
      const plain = await at.call('Read', { file_path: 'a.txt' });
      expect(await at.call('Read', { file_path: 'a.txt' }, { editor })).toEqual(plain);
    }),
    { numRuns: 60 },
  );
});
