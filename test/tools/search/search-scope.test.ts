import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../../../src/protocol/tool.ts';
import { countWithheldFiles } from '../../../src/tools/search/search-scope.ts';
import {
  confirmEntries,
  confirmHits,
  confirmPaths,
} from '../../../src/tools/search/confirm-hits.ts';
import { listFilesInScope, searchFilesInScope } from '../../../src/tools/search/ripgrep.ts';
import type { SearchLimits, SearchScope } from '../../../src/tools/search/search-types.ts';
import { asNormalUser } from '../../sys/normal-user.ts';
import { keepSwapping } from '../../sys/swapping.ts';
import { makeWorkspace, type Workspace } from '../workspace.ts';

const LIMITS: SearchLimits = {
  maxFiles: 1000,
  maxMatches: 1000,
  maxMatchesPerFile: 1000,
  timeMs: 10_000,
  signal: new AbortController().signal,
};
const QUERY = { pattern: 'KEY', ignoreCase: false, multiline: false, before: 0, after: 0 };

function scopeOf(directory: string): SearchScope {
  return { directory, roots: [directory], accepts: () => true, nameGlobs: [] };
}

/** A context with the rule `deny Read(secret/**)`. */
const withoutSecret: Pick<ToolContext, 'excludedPathsBelow'> = {
  excludedPathsBelow: () => (path) =>
    path.startsWith('secret/') && path !== 'secret/' ? 'deny rule X' : undefined,
};

function withSecrets(): Workspace {
  const at = makeWorkspace();
  at.write('a.txt', 'KEY\n');
  at.write('secret/b.txt', 'KEY\n');
  at.write('secret/deep/c.txt', 'nothing\n');
  return at;
}

describe('a file that a rule withholds', () => {
  test('is left out of the results of Grep, Glob and LS, which say so', async () => {
    const at = withSecrets();
    const grep = (input: Record<string, string>) => at.call('Grep', input, withoutSecret);
    expect(await grep({ pattern: 'KEY' })).toEqual({
      text: 'a.txt\n[2 files left out: deny rule X]',
    });
    expect(await grep({ pattern: 'KEY', output_mode: 'content', type: 'txt' })).toEqual({
      text: 'a.txt:1:KEY\n[2 files left out: deny rule X]',
    });
    expect((await at.call('Glob', { pattern: '*.txt' }, withoutSecret)).text).toBe(
      'a.txt\n[2 files left out: deny rule X]',
    );
    expect((await at.call('Glob', { pattern: '*.rs' }, withoutSecret)).text).toBe(
      '[no file matches *.rs in .]\n[2 files left out: deny rule X]',
    );
    expect((await at.call('LS', {}, withoutSecret)).text).toBe('a.txt  4 B\nsecret/');
    const all: Pick<ToolContext, 'excludedPathsBelow'> = {
      excludedPathsBelow: () => () => 'ask rule Y',
    };
    expect((await at.call('LS', {}, all)).text).toBe('[2 entries left out: ask rule Y]');
  });

  test('is counted whatever is searched for, so that its content cannot be guessed', async () => {
    const at = withSecrets();
    const notes = new Set<string>();
    for (const pattern of ['KEY', 'nothing', 'zzz', 'K', '.*']) {
      const { text } = await at.call('Grep', { pattern }, withoutSecret);
      notes.add(text.slice(text.indexOf('[2 files')));
    }
    for (const pattern of ['*.txt', 'b*', 'zzz', '**/c.txt']) {
      const { text } = await at.call('Glob', { pattern, path: '.' }, withoutSecret);
      notes.add(text.slice(text.indexOf('[2 files')));
      expect(text).not.toMatch(/b\.txt|c\.txt(?! in)/);
    }
    expect([...notes]).toEqual(['[2 files left out: deny rule X]']);
  });

  test('is counted by rule', async () => {
    const at = withSecrets();
    const place = { real: at.root, asked: at.root, isFile: false };
    const context = { ...at.context, ...withoutSecret };
    const kept = await countWithheldFiles(place, LIMITS, context);
    expect(kept.notes(['file', 'files'])).toEqual(['[2 files left out: deny rule X]']);
  });

  test('is not suggested for a misspelt name', async () => {
    const at = withSecrets();
    const read = (context?: Partial<ToolContext>) =>
      at.call('Read', { file_path: 'secret/b.tx' }, context);
    const keptBack = { excludedPathsBelow: () => () => 'deny rule X' };
    expect((await read()).text).toMatch(/Near it: secret\/b\.txt\.$/);
    expect((await read(keptBack)).text).not.toMatch(/b\.txt/);
  });
});

describe('a search of a scope', () => {
  test('names the files that this user may not read', async () => {
    const at = makeWorkspace();
    fs.chmodSync(join(at.root, '..'), 0o755);
    at.write('a.txt', 'KEY\n');
    at.write('closed/b.txt', 'KEY\n');
    at.write('c.txt', 'KEY\n');
    fs.chmodSync(at.path('closed'), 0);
    fs.chmodSync(at.path('c.txt'), 0);
    const scope = scopeOf(at.root);
    const found = await asNormalUser(() => searchFilesInScope(QUERY, scope, LIMITS));
    expect(found.files.map(({ path }) => path)).toEqual(['a.txt']);
    expect(found.unreadable?.toSorted()).toEqual(['c.txt', 'closed']);
    const listed = await asNormalUser(() => listFilesInScope(scope, LIMITS));
    expect(listed.unreadable).toEqual(['closed']);
    fs.chmodSync(at.path('closed'), 0o755);
  });

  test('finds nothing through a link out of the workspace, in a pipe or in a hard-linked file', async () => {
    const at = makeWorkspace();
    const outside = join(at.root, '../outside');
    fs.mkdirSync(outside);
    fs.writeFileSync(join(outside, 'f.txt'), 'KEY\n');
    fs.symlinkSync(outside, at.path('link'));
    fs.symlinkSync(join(outside, 'f.txt'), at.path('f.txt'));
    fs.linkSync(join(outside, 'f.txt'), at.path('hard.txt'));
    execFileSync('mkfifo', [at.path('pipe')]);
    const { files } = await searchFilesInScope(QUERY, scopeOf(at.root), LIMITS);
    expect(files).toEqual([]);
    const { paths } = await listFilesInScope(scopeOf(at.root), LIMITS);
    expect(paths).toEqual(['hard.txt']);
    const named = { ...scopeOf(at.root), file: 'hard.txt' };
    expect((await searchFilesInScope(QUERY, named, LIMITS)).files).toEqual([]);
    const known = { ...named, mayHaveOtherNames: true };
    expect((await searchFilesInScope(QUERY, known, LIMITS)).files).toMatchObject([
      { path: 'hard.txt' },
    ]);
  });
});

test('the content of a hard-linked file outside cannot be guessed with Grep', async () => {
  const at = makeWorkspace();
  fs.writeFileSync(join(at.root, '../outside'), 'KEY\n');
  fs.linkSync(join(at.root, '../outside'), at.path('hard.txt'));
  for (const output_mode of ['content', 'count', 'files_with_matches']) {
    for (const pattern of ['KEY', 'zzz']) {
      const input = { pattern, output_mode, head_limit: 1 };
      expect((await at.call('Grep', input)).text).toBe(
        `[no match for ${pattern} in .]\n[not searched: 1 hard-linked file (hard.txt): name one as path]`,
      );
    }
  }
});

test.runIf(process.platform === 'linux')('a name that is not UTF-8 is reported', async () => {
  const at = makeWorkspace();
  const path = Buffer.concat([
    Buffer.from(`${at.root}/n`),
    Buffer.from([0xff]),
    Buffer.from('.txt'),
  ]);
  fs.writeFileSync(path, 'KEY\n');
  expect((await at.call('Glob', { pattern: '*.txt' })).text).toBe('n\uFFFD.txt');
  expect((await at.call('Grep', { pattern: 'KEY' })).text).toBe(
    '[no match for KEY in .]\n[could not be read: n\uFFFD.txt]',
  );
});

test('an ignore file that is a pipe delays a search no longer than its time limit', async () => {
  const at = makeWorkspace();
  at.write('a.txt', 'KEY\n');
  execFileSync('mkfifo', [at.path('.gitignore')]);
  expect(await listFilesInScope(scopeOf(at.root), { ...LIMITS, timeMs: 300 })).toEqual({
    paths: [],
    stopped: 'time',
  });
});

test('the tools name directories that could not be read', async () => {
  const at = makeWorkspace();
  fs.chmodSync(join(at.root, '..'), 0o755);
  at.write('a.txt', 'KEY\n');
  at.write('closed/b.txt', 'KEY\n');
  fs.chmodSync(at.path('closed'), 0);
  const note = '[could not be read: closed]';
  const call = (tool: string) =>
    asNormalUser(() => at.call(tool, { pattern: tool === 'Grep' ? 'KEY' : '*' }));
  expect((await call('Grep')).text).toBe(`a.txt\n${note}`);
  expect((await call('Glob')).text).toBe(`a.txt\n${note}`);
  fs.chmodSync(at.path('closed'), 0o755);
});

test('a hit counts only when the file contains it and is reached through no link', async () => {
  const at = makeWorkspace();
  const outside = join(at.root, '../outside');
  fs.mkdirSync(outside);
  fs.writeFileSync(join(outside, 'f.txt'), 'KEY outside\n');
  fs.symlinkSync(outside, at.path('link'));
  at.write('f.txt', 'one\r\nKEY\r\n');
  const scope = scopeOf(at.root);
  const hit = (path: string, number: number, text: string) => ({
    path,
    matches: 1,
    lines: [{ number, text, matches: true }],
  });
  const right = hit('f.txt', 2, 'KEY');
  const found = [right, hit('f.txt', 2, 'KEY outside'), hit('link/f.txt', 1, 'KEY outside')];
  const search = { startedAt: Date.now(), signal: LIMITS.signal };
  expect(await confirmHits(found, scope, search)).toEqual([right]);
  const names = ['f.txt', 'link/f.txt', 'gone.txt', 'link', '.'];
  expect(confirmPaths(names, scope)).toEqual(['f.txt']);
  expect(confirmEntries(names, scope)).toEqual(['f.txt', 'link', '.']);
});

test('a hit of a directory that was a link during the search must be in its file', async () => {
  const at = makeWorkspace();
  const outside = join(at.root, '../outside');
  fs.mkdirSync(outside);
  fs.writeFileSync(join(outside, 'f.txt'), 'KEY outside\n');
  for (const name of ['kept', 'swapped', 'above/below', 'replaced']) {
    at.write(`${name}/f.txt`, 'KEY inside\n');
  }
  // Changes that are older than a second count as made before the search.
  await sleep(1_200);
  const search = { startedAt: Date.now(), signal: LIMITS.signal };
  const swap = (path: string, target: string): void => {
    fs.renameSync(path, `${path}-away`);
    fs.symlinkSync(target, path);
    fs.unlinkSync(path);
    fs.renameSync(`${path}-away`, path);
  };
  swap(at.path('above'), join(at.root, '..'));
  swap(at.path('replaced/f.txt'), join(outside, 'f.txt'));
  const hit = (path: string) => ({
    path,
    matches: 1,
    lines: [{ number: 1, text: 'KEY outside', matches: true }],
  });
  const names = ['kept', 'swapped', 'above/below', 'replaced'];
  const found = names.map((name) => hit(`${name}/f.txt`));
  expect(await confirmHits(found, scopeOf(at.root), search)).toEqual([]);
  // A directory above the root of the search leads elsewhere, too, if it is a link for a moment.
  const nested = { ...scopeOf(at.root), directory: at.path('kept'), roots: [at.path('kept')] };
  expect(await confirmHits([hit('f.txt')], nested, search)).toEqual([]);
});

test('nothing outside is found while another process swaps directories for links', async () => {
  const at = makeWorkspace();
  const outside = join(at.root, '../outside');
  fs.mkdirSync(outside);
  fs.writeFileSync(join(outside, 'f.txt'), 'KEY outside\n');
  fs.writeFileSync(join(outside, 'only-outside.txt'), 'KEY outside\n');
  at.write('dir/f.txt', 'KEY inside\n');
  fs.symlinkSync(outside, at.path('link'));
  await keepSwapping(at.path('dir'), at.path('link'));
  const texts: string[] = [];
  for (let round = 0; round < 40; round += 1) {
    for (const path of ['.', 'dir']) {
      const found = [
        await at.call('Grep', { pattern: 'KEY', output_mode: 'content', path }),
        await at.call('Glob', { pattern: '*', path }),
        await at.call('LS', { path }),
        await at.call('Read', { file_path: 'dir/f.txt' }),
      ];
      texts.push(...found.filter(({ error }) => error === undefined).map(({ text }) => text));
    }
  }
  // The line of a link in a listing names its target.
  const shown = texts.map((text) => text.replaceAll(/^.* -> .*$/gm, ''));
  expect(shown.filter((text) => text.includes('outside'))).toEqual([]);
});
