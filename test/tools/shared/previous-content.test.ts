import { describe, expect, test } from 'vitest';
import { makeWorkspace } from '../workspace.ts';

/** The contents that a call saved before it changed files, and its error. */
async function kept(
  tool: string,
  input: Readonly<Record<string, string | boolean>>,
): Promise<{ readonly texts: readonly string[]; readonly error: string | undefined }> {
  const work = makeWorkspace();
  work.write('a.txt', 'old a');
  work.write('b.txt', 'old b');
  work.write('d/c.txt', 'old c');
  work.write('large.txt', Buffer.alloc(33 * 1024 * 1024));
  work.write('.env', 'KEY=old');
  for (const name of ['a.txt', 'b.txt', '.env']) await work.call('Read', { file_path: name });
  const texts: string[] = [];
  const output = await work.call(tool, input, {
    keepFormer: async (bytes) => void texts.push(bytes.toString('utf8')),
  });
  return { texts: texts.toSorted(), error: output.error };
}

describe('the content of a file is saved before it is deleted or replaced', () => {
  test.each([
    ['Write', { file_path: 'a.txt', content: 'new' }, ['old a']],
    ['Write', { file_path: 'new.txt', content: 'new' }, []],
    ['Edit', { file_path: 'a.txt', old_string: 'old', new_string: 'new' }, ['old a']],
    ['DeleteFile', { file_path: 'a.txt' }, ['old a']],
    ['DeleteFile', { file_path: 'd', recursive: true }, ['old c']],
    ['DeleteFile', { file_path: 'large.txt' }, []],
    ['DeleteFile', { file_path: '.env' }, []],
    ['Write', { file_path: '.env', content: 'KEY=new' }, []],
    ['MoveFile', { source: 'a.txt', destination: 'n.txt' }, []],
    ['MoveFile', { source: 'a.txt', destination: 'b.txt', overwrite: true }, ['old b']],
  ] as const)('%s %j', async (tool, input, texts) => {
    expect(await kept(tool, input)).toEqual({ texts, error: undefined });
  });

  test('a file whose content cannot be saved is not changed', async () => {
    const work = makeWorkspace();
    work.write('a.txt', 'old');
    const keepFormer = () => Promise.reject(new Error('the disk is full'));
    expect(await work.call('DeleteFile', { file_path: 'a.txt' }, { keepFormer })).toMatchObject({
      text: expect.stringContaining('the disk is full'),
      error: 'INTERNAL_ERROR',
    });
    expect(await work.call('Read', { file_path: 'a.txt' })).toMatchObject({
      text: expect.stringContaining('old'),
    });
  });
});
