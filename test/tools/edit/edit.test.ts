import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyEdit } from '../../../src/tools/edit/apply-edit.ts';
import { makeWorkspace, type Workspace } from '../workspace.ts';

const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

async function readFirst(at: Workspace, name: string, content: string | Buffer): Promise<string> {
  const path = at.write(name, content);
  await at.call('Read', { file_path: name });
  return path;
}

describe('Write', () => {
  test('creates a file and its directories', async () => {
    const at = makeWorkspace();
    expect(await at.call('Write', { file_path: 'a/b/c.txt', content: 'x\ny\n' })).toEqual({
      text: 'Created a/b/c.txt: 2 lines.',
      facts: { changed: [{ path: at.path('a/b/c.txt'), before: null, after: sha256('x\ny\n') }] },
    });
    expect(readFileSync(at.path('a/b/c.txt'), 'utf8')).toBe('x\ny\n');
    expect(readdirSync(at.path('a/b'))).toEqual(['c.txt']);
    expect(
      (await at.call('Edit', { file_path: 'a/b/c.txt', old_string: 'x', new_string: 'z' })).error,
    ).toBe(undefined);
  });

  test('an existing file must have been read and not changed since', async () => {
    const at = makeWorkspace();
    const path = at.write('a.txt', 'old');
    const write = () => at.call('Write', { file_path: 'a.txt', content: 'new' });
    expect(await write()).toEqual({
      text: 'a.txt has not been read in this task: Read it first.',
      error: 'CONFLICT',
    });
    await at.call('Read', { file_path: 'a.txt' });
    at.write('a.txt', 'other');
    expect(await write()).toEqual({
      text: 'a.txt has changed since it was read: Read it again before changing it.',
      error: 'CONFLICT',
    });
    expect(readFileSync(path, 'utf8')).toBe('other');
    await at.call('Read', { file_path: 'a.txt' });
    expect(await write()).toEqual({
      text: 'Replaced a.txt: 1 line.',
      facts: { changed: [{ path, before: sha256('other'), after: sha256('new') }] },
    });
  });

  test('keeps mode, byte order mark and CRLF', async () => {
    const at = makeWorkspace();
    const path = await readFirst(at, 'run.sh', '\uFEFFa\r\nb\r\n');
    chmodSync(path, 0o750);
    const result = await at.call('Write', { file_path: 'run.sh', content: 'c\nd\n' });
    expect(result.text).toBe('Replaced run.sh: 2 lines (its CRLF line ends kept).');
    expect(readFileSync(path, 'utf8')).toBe('\uFEFFc\r\nd\r\n');
    expect(statSync(path).mode & 0o777).toBe(0o750);
  });

  test('writes through a link inside, and never out of the workspace', async () => {
    const at = makeWorkspace();
    const path = await readFirst(at, 'real.txt', 'old');
    symlinkSync('real.txt', at.path('link.txt'));
    await at.call('Write', { file_path: 'link.txt', content: 'new' });
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(lstatSync(at.path('link.txt')).isSymbolicLink()).toBe(true);
    symlinkSync('../made-outside.txt', at.path('dangling'));
    symlinkSync('..', at.path('up'));
    for (const file_path of [
      'dangling',
      'up/made-outside.txt',
      '../made-outside.txt',
      '/made-outside',
    ]) {
      expect(await at.call('Write', { file_path, content: 'x' })).toMatchObject({
        error: 'PERMISSION_DENIED',
      });
    }
    expect(readdirSync(at.path('..'))).toEqual(['work']);
  });

  test('a file that cannot be written is reported with the reason', async () => {
    const at = makeWorkspace();
    mkdirSync(at.path('dir'));
    const locked = await readFirst(at, 'locked.txt', 'x');
    chmodSync(locked, 0o444);
    at.write('file', 'x');
    const text = async (file_path: string) =>
      (await at.call('Write', { file_path, content: 'y' })).text;
    expect(await text('dir')).toContain('is a directory');
    expect(await text('.')).toContain('is a directory');
    expect(await text('locked.txt')).toBe(`${locked} is read-only: nobody may write it`);
    expect(await text('file/x')).toContain('not a directory');
    expect(readdirSync(at.root).toSorted()).toEqual(['dir', 'file', 'locked.txt']);
  });
});

describe('Edit', () => {
  test('replaces an exact text and returns its lines and the hashes', async () => {
    const at = makeWorkspace();
    const path = await readFirst(at, 'a.ts', 'one\ntwo\nthree\n');
    expect(
      await at.call('Edit', { file_path: 'a.ts', old_string: 'two', new_string: '2\n2' }),
    ).toEqual({
      text: 'Edited a.ts: 1 replacement at line 2.',
      facts: {
        changed: [
          { path, before: sha256('one\ntwo\nthree\n'), after: sha256('one\n2\n2\nthree\n') },
        ],
      },
    });
    const again = { file_path: 'a.ts', old_string: '2', new_string: '$&$1', replace_all: true };
    expect((await at.call('Edit', again)).text).toBe('Edited a.ts: 2 replacements at lines 2, 3.');
    expect(readFileSync(path, 'utf8')).toBe('one\n$&$1\n$&$1\nthree\n');
  });

  test('keeps CRLF and byte order mark', async () => {
    const at = makeWorkspace();
    const path = await readFirst(at, 'a.txt', '\uFEFFone\r\ntwo\r\nthree');
    await at.call('Edit', { file_path: 'a.txt', old_string: 'one\ntwo', new_string: '1\n2' });
    expect(readFileSync(path, 'utf8')).toBe('\uFEFF1\r\n2\r\nthree');
  });

  test.each([
    ['binary', Buffer.from([0, 1, 2]), 'a is binary data: it cannot be edited as text'],
    [
      'Shift-JIS',
      Buffer.from([0x82, 0xb1, 0x82, 0xf1, 0x81, 0x41]),
      'a is not valid UTF-8, and not',
    ],
    [
      'damaged UTF-8',
      Buffer.concat([Buffer.from('éé'), Buffer.from([0xe9])]),
      'a is not valid UTF-8, and not windows-1252 (Latin-1) either',
    ],
    ['half UTF-16', Buffer.from('fffe6100620063', 'hex'), 'a is not valid UTF-16LE, and not'],
  ])('%s files are left unchanged', async (_, content, said) => {
    const at = makeWorkspace();
    const path = at.write('a', content);
    at.context.files.remember(path, sha256(content));
    const result = await at.call('Edit', { file_path: 'a', old_string: 'c', new_string: 'd' });
    expect(result).toMatchObject({ error: 'INVALID_PARAM' });
    expect(result.text).toContain(said);
    expect(readFileSync(path)).toEqual(Buffer.from(content));
  });

  test.each([['Edit'], ['MultiEdit']])('%s of a missing file points to Write', async (name) => {
    const at = makeWorkspace();
    const edit = { old_string: '', new_string: 'x' };
    const input = name === 'Edit' ? edit : { edits: [edit] };
    expect(await at.call(name, { file_path: 'made.ts', ...input })).toEqual({
      text: 'made.ts does not exist. Edit only changes existing files: use Write with file_path and content to make it.',
      error: 'NOT_FOUND',
    });
    expect(readdirSync(at.root)).toEqual([]);
  });

  test('an empty old_string fills only an empty file that was read', async () => {
    const at = makeWorkspace();
    const path = at.write('empty.txt', '');
    const edit = { file_path: 'empty.txt', old_string: '', new_string: 'one\ntwo\n' };
    expect(await at.call('Edit', edit)).toMatchObject({ error: 'CONFLICT' });
    await at.call('Read', { file_path: 'empty.txt' });
    expect(await at.call('Edit', edit)).toEqual({
      text: 'Edited empty.txt: 1 replacement at line 1.',
      facts: { changed: [{ path, before: sha256(''), after: sha256('one\ntwo\n') }] },
    });
    expect(await at.call('Edit', edit)).toEqual({
      text: 'empty.txt: old_string is empty: give the text that new_string replaces. To replace the whole file use Write. Nothing was changed.',
      error: 'INVALID_PARAM',
    });
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  });

  test('an error puts the lines of the file on lines of their own', async () => {
    const at = makeWorkspace();
    await readFirst(at, 'q.md', 'one\nit’s “fine” — ok\n');
    const result = await at.call('Edit', {
      file_path: 'q.md',
      old_string: 'it\'s "fine" - ok',
      new_string: 'x',
    });
    expect(result).toEqual({
      text: [
        "q.md: old_string was not found; line 2 would match except for typographic quotes and typographic dashes. At line 2, column 3 the file has ’ (U+2019), and old_string has ' (U+0027). Copy it exactly as it stands in the file:",
        '2\tit’s “fine” — ok',
        'Nothing was changed.',
      ].join('\n'),
      error: 'INVALID_PARAM',
    });
  });

  test('MultiEdit makes all edits or none', async () => {
    const at = makeWorkspace();
    const path = await readFirst(at, 'a.txt', 'one\ntwo\n');
    const edit = (second: string) =>
      at.call('MultiEdit', {
        file_path: 'a.txt',
        edits: [
          { old_string: 'one', new_string: 'ONE' },
          { old_string: second, new_string: 'done' },
        ],
      });
    expect((await edit('gone')).text).toBe(
      'a.txt: edit 2 of 2: old_string was not found, and no line resembles its first line. Nothing was changed.',
    );
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
    expect((await edit('ONE\n')).text).toBe(
      'Edited a.txt: 1 replacement at line 1; 1 replacement at line 1.',
    );
    expect(readFileSync(path, 'utf8')).toBe('donetwo\n');
  });
});

describe('applyEdit', () => {
  const problem = (text: string, old_string: string, new_string = 'new'): string => {
    const result = applyEdit(text, { old_string, new_string }, '\n');
    return result.ok ? 'no problem' : result.problem;
  };

  test.each([
    ['a\nb\na\n', 'a', /occurs 2 times, at lines 1, 3: add lines/],
    ['if (x) {\n    y();\n}\n', 'if (x) {\n  y();\n}', /line 1 would match except for white space/],
    ['one\n', '1\tone', /begins with a line number/],
    ['const alpha = 1;\n', 'const alpha = 1;\nconst beta', /line:\n1\tconst alpha = 1;/],
    ['one', 'zzz', /no line resembles/],
    ['one', '', /is empty: .* use Write/],
    [
      'one\r\ntwo\r\n',
      'one\n two',
      /line 2, column 1 the file has "t", and old_string has 1 blank/,
    ],
    ['new', 'new', /are the same/],
  ])('%j: %j', (text, old, said) => {
    expect(problem(text, old)).toMatch(said);
  });

  test('replaces a text that occurs once', () => {
    const part = fc.string({ unit: fc.constantFrom('a', '\n', '(', '\\', '$', 'é') });
    fc.assert(
      fc.property(part, part, part, (before, after, new_string) => {
        const text = `${before}<MARK>${after}`;
        const result = applyEdit(text, { old_string: '<MARK>', new_string }, '\n');
        const line = before.split('\n').length;
        expect(result).toEqual({ ok: true, text: before + new_string + after, lines: [line] });
      }),
    );
  });

  test('replace_all does the same as split and join', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '\n') });
    fc.assert(
      fc.property(text, fc.constantFrom('a', 'ab', '.', 'a\nb'), (before, old_string) => {
        const edit = { old_string, new_string: 'X', replace_all: true };
        const result = applyEdit(before, edit, '\n');
        const expected = before.split(old_string).join('X');
        expect(result.ok ? result.text : before).toBe(expected);
      }),
    );
  });
});
