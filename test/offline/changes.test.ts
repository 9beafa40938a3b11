import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseChanges, parseUntracked } from '../../src/model/offline/changes.ts';
import { asksForChanges } from '../../src/model/offline/changes-plan.ts';
import { outlinedDirectory } from '../../src/model/offline/outline-plan.ts';
import type { ToolSpec } from '../../src/protocol/model.ts';
import { tempDirectory } from '../sys/temp.ts';
import { ask, type RunOptions } from './harness.ts';
import { runSearchTool, SEARCH_TOOLS, TASK_TOOL } from './search-tools.ts';

const BASH: ToolSpec = {
  name: 'Bash',
  description: 'Run.',
  inputSchema: { type: 'object', properties: { command: {} } },
};

class Repository {
  readonly root = tempDirectory();

  write(path: string, text: string): this {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
    return this;
  }

  git(...args: readonly string[]): this {
    const who = ['-c', 'user.name=n', '-c', 'user.email=n@example.org'];
    execFileSync('git', [...who, ...args], { cwd: this.root, stdio: 'ignore' });
    return this;
  }

  async ask(question: string, options: Partial<RunOptions> = {}, below = '.') {
    const root = join(this.root, below);
    const answer = await ask(question, {
      root,
      agentType: 'Review',
      tools: [...SEARCH_TOOLS, BASH],
      execute: async (name, input) => {
        if (name !== 'Bash') return runSearchTool(name, input, root);
        // No repository above the temporary directory counts.
        const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(this.root) };
        const run = spawnSync('bash', ['-c', String(input['command'])], { cwd: root, env });
        const text = `${run.stdout.toString()}${run.stderr.toString()}[exit code ${run.status}]`;
        return { text, isError: run.status !== 0 };
      },
      ...options,
    });
    const [said = '', ...lines] = answer.text.split('\n\n');
    expect(said).toContain('The offline engine lists what changed: whether it is right it cannot');
    return { lines, turns: answer.turns.map((calls) => calls.map(({ name }) => name)) };
  }
}

function committed(): Repository {
  return new Repository()
    .git('init', '-q')
    .write('src/jar.ts', 'export class Jar {\n  add() {\n    return 1;\n  }\n\n  take() {}\n}\n')
    .write('a b/ä.py', 'def old():\n    pass\n')
    .write('gone.ts', 'export const gone = 1;\n')
    .git('add', '-A')
    .git('commit', '-qm', 'one');
}

describe('Review', () => {
  test('lists the changed places with what they stand in', async () => {
    const repository = committed()
      .write('src/jar.ts', 'export class Jar {\n  add() {\n    return 2;\n  }\n}\n')
      .write('a b/ä.py', 'def old():\n    pass\n\n\ndef new():\n    pass\n')
      .write('fresh.ts', 'export const fresh = 1;\n');
    rmSync(join(repository.root, 'gone.ts'));
    expect(await repository.ask('Review my changes')).toEqual({
      lines: [
        'Not committed: +5 −4 lines in 3 files.',
        '`a b/ä.py` (+4 −0):\n- `a b/ä.py:5` +4 in `new`: def new():',
        '`gone.ts` (+0 −1):\n- `gone.ts:1` −1',
        '`src/jar.ts` (+1 −3):\n- `src/jar.ts:3` +1 −1 in `add`: return 2;\n- `src/jar.ts:4` −2 in `Jar`',
        'New, and not known to git: `fresh.ts`.',
        'None of these files is a test.',
      ],
      turns: [
        ['Bash', 'Bash'],
        ['Read', 'Read'],
      ],
    });
  });

  test('of a clean tree: the last commit', async () => {
    const { lines, turns } = await committed().ask('what changed?');
    expect(lines[0]).toBe('The last commit: +10 −0 lines in 3 files.');
    expect(turns).toEqual([['Bash', 'Bash'], ['Bash'], ['Read', 'Read', 'Read']]);
  });

  test.each([
    ['far('],
    ['if (late) {\n  far('],
    ['export function last(\n  a: string,\n): void {\n  far(', 'last'],
    ['class Last {\n  before() {\n  }\n\n  last() {\n// note\n    if (late) {\n      far(', 'last'],
  ])('names a definition only where the line stands in it: %j', async (above, name?) => {
    const text = (value: number) =>
      `export function first() {\n  return 1;\n}\n\n${above}${value});\n`;
    const repository = new Repository().git('init', '-q').write('a.ts', text(1)).git('add', '-A');
    repository.git('commit', '-qm', 'one').write('a.ts', text(2));
    const { lines } = await repository.ask('Review my changes');
    const within = name === undefined ? '' : ` in \`${name}\``;
    expect(lines[1]).toMatch(new RegExp(`\\+1 −1${within}: far\\(2\\);$`));
  });

  test('of a merge: what it brought', async () => {
    const repository = committed();
    repository.git('checkout', '-q', '-b', 'side').write('side.ts', 'let side = 1;\n');
    repository.git('add', '-A').git('commit', '-qm', 'side').git('checkout', '-q', '-');
    repository.write('main.ts', 'let main = 1;\n').git('add', '-A').git('commit', '-qm', 'main');
    repository.git('merge', '-q', '--no-edit', 'side');
    const { lines } = await repository.ask('Review the last commit');
    expect(lines.slice(0, 2)).toEqual([
      'The last commit: +1 −0 lines in 1 file.',
      '`side.ts` (+1 −0):\n- `side.ts:1` +1 in `side`: let side = 1;',
    ]);
  });

  test.each([
    ['diff.noprefix', 'true'],
    ['diff.mnemonicPrefix', 'true'],
    ['core.quotePath', 'false'],
    ['diff.interHunkContext', '9'],
    ['color.ui', 'always'],
  ])('whatever git is set to (%s)', async (key, value) => {
    const repository = committed().git('config', key, value);
    repository.write(
      'src/jar.ts',
      'export class Jar {\n  add() {\n    return 2;\n  }\n\n  take() {}\n}\n',
    );
    repository.write('a b/ä.py', 'def old():\n    return 1\n');
    const { lines } = await repository.ask('Review my changes');
    expect(lines.slice(0, 3)).toEqual([
      'Not committed: +2 −2 lines in 2 files.',
      '`a b/ä.py` (+1 −1):\n- `a b/ä.py:2` +1 −1 in `old`: return 1',
      '`src/jar.ts` (+1 −1):\n- `src/jar.ts:3` +1 −1 in `add`: return 2;',
    ]);
  });

  test('below the top of a repository: what changed there, by its paths from there', async () => {
    const repository = committed().write('src/jar.ts', 'let jar = 1;\n');
    repository.write('a b/ä.py', '').write('src/fresh.ts', '').write('top.ts', '');
    const { lines } = await repository.ask('Review my changes', {}, 'src');
    expect(lines).toEqual([
      'Not committed: +1 −7 lines in 1 file.',
      '`jar.ts` (+1 −7):\n- `jar.ts:1` +1 −7 in `jar`: let jar = 1;',
      'New, and not known to git: `fresh.ts`.',
      'None of these files is a test.',
    ]);
  });

  test('of a commit that is named', async () => {
    const repository = committed().write('x.test.ts', 'test();\n').git('add', '-A');
    repository.git('commit', '-qm', 'two').write('src/jar.ts', '');
    expect((await repository.ask('Review the last commit')).lines).toEqual([
      'The last commit: +1 −0 lines in 1 file.',
      '`x.test.ts` (+1 −0):\n- `x.test.ts:1` +1: test();',
      'Of these files 1 is a test.',
    ]);
    const { lines } = await repository.ask('Check commit abcdef1234');
    expect(lines[0]).toMatch(/^What changed is not known: git said: fatal: .*abcdef1234/);
  });

  test.each<[string, (repository: Repository) => void, string]>([
    ['outside of any repository', () => {}, 'this directory is in no git repository.'],
    ['before the first commit', (it) => void it.git('init', '-q'), 'there is no commit yet.'],
  ])('%s it says so', async (_, prepare, why) => {
    const repository = new Repository().write('a.ts', 'export const a = 1;\n');
    prepare(repository);
    expect((await repository.ask('Review my changes')).lines).toEqual([
      `What changed is not known: ${why} Name a file for its outline.`,
    ]);
  });

  test('where the repository is hidden it does not say that there is none', async () => {
    const text =
      'fatal: not a git repository (or any parent up to mount point /w)\n[exit code 128]';
    const { lines } = await committed().ask('Review my changes', {
      execute: () => Promise.resolve({ text, isError: true }),
    });
    expect(lines).toEqual([
      'What changed is not known: Bash sees no git repository here; if it begins further up, ask from there. Name a file for its outline.',
    ]);
  });

  test('where no call is allowed it does not say that nothing changed', async () => {
    const { lines } = await committed().ask('Review my changes', { toolsForbiddenFrom: 0 });
    expect(lines[0]).toMatch(/^What changed is not known: git said: it was not asked/);
  });

  test('without Bash it asks one who has it, or says that it cannot', async () => {
    const repository = committed();
    const { lines } = await repository.ask('Review my changes', { tools: SEARCH_TOOLS });
    expect(lines[0]).toMatch(
      /^What changed is told by git through Bash, and this agent has no Bash/,
    );
    const asked = await ask('What changed?', {
      root: repository.root,
      tools: [...SEARCH_TOOLS, TASK_TOOL],
      execute: () => Promise.resolve({ text: 'nothing', isError: false }),
    });
    expect([asked.turns[0]?.[0]?.input['subagent_type'], asked.text]).toEqual([
      'Review',
      'nothing',
    ]);
  });
});

describe('Summary', () => {
  test('of a directory is a line for each file', async () => {
    const repository = new Repository()
      .write('lib/README.md', '# Jars\n\nWhere cookies are kept.\n')
      .write(
        'lib/jar.ts',
        '// Copyright of somebody.\n\n/** Keeps cookies. Not yours. */\nclass Jar {\n  add() {\n  }\n}\n',
      )
      .write('lib/deep/x.go', '// Package x waits.\npackage x\n\nfunc Wait() {\n}\n')
      .write('lib/data.json', '{}\n')
      .write('other/lib/y.ts', 'export const y = 1;\n');
    const { text, turns } = await ask('Summarise the lib directory', {
      root: repository.root,
      agentType: 'Summary',
    });
    expect(text.split('\n').slice(2)).toEqual([
      '`lib`: 4 files, 4 opened (at most 16):',
      '- `lib/README.md:1` · Where cookies are kept. · `Jars`',
      '- `lib/jar.ts:4` · Keeps cookies. · `Jar`, `add`',
      '- `lib/deep/x.go:4` · Package x waits. · `Wait`',
      '- `lib/data.json:1`',
    ]);
    expect(turns.map((calls) => calls.length)).toEqual([1, 4]);
  });

  test('takes neither a licence nor data for what a file says, and code among texts for code', async () => {
    const licence = '// Copyright 2020 Somebody\n//\n// Unless agreed to, it comes as it is.\n';
    const repository = new Repository()
      .write('lib/a.go', `${licence}\npackage a\n\nfunc Wait() {\n\tif len(a) == 0 {\n\t}\n}\n`)
      .write(
        'lib/b.js',
        '/*\n * Copyright me\n * Use it as you like.\n */\n\n// Counts.\nlet b = 1;\n',
      )
      .write('lib/docs/c.go', '# no heading\nfunc Make() {\n}\n')
      .write('lib/d.yml', 'let it be\n');
    const { text } = await ask('Summarise lib', { root: repository.root, agentType: 'Summary' });
    expect(text.split('\n').slice(3)).toEqual([
      '- `lib/a.go:7` · `Wait`',
      '- `lib/b.js:7` · Counts. · `b`',
      '- `lib/docs/c.go:2` · no heading · `Make`',
      '- `lib/d.yml:1`',
    ]);
  });

  test('of what is no directory is a search', async () => {
    const repository = new Repository().write('a.ts', 'export function retries() {\n}\n');
    const { text } = await ask('Summarise retries', { root: repository.root });
    expect(text).toMatch(/^1\. `a\.ts:1`: defines `retries`/m);
  });
});

test.each([
  ['what changed?', true],
  ["What's new since yesterday?", true],
  ['What did you change', true],
  ['Show me the uncommitted changes', true],
  ['Please review the last commit', true],
  ['Where are changes of a file detected?', false],
  ['What changes the cursor?', false],
  ['How is a diff made?', false],
  ['Where is the commit written?', false],
])('asks for changes: %s → %s', (question, expected) => {
  expect(asksForChanges(question)).toBe(expected);
});

test.each([
  ['Summarise src', 'src'],
  ['Please summarize the directory `src/model/`.', 'src/model'],
  ['give me an overview of this project', '.'],
  ['Summarize this repository', '.'],
  ['outline the tools folder', 'tools'],
  ['Summarise src/a.ts', null],
  ['Summarise how retries work', null],
  ['Where is src?', null],
])('%s → the directory %s', (question, expected) => {
  expect(outlinedDirectory(question)).toBe(expected);
});

test('what git says is read, and nothing that a file says', () => {
  const text = [
    'diff --git a/x y.ts b/x y.ts',
    '@@ -3,2 +3 @@ function f() {',
    '@@ -9 +8,0 @@',
    'diff --git "a/\\303\\244.ts" "b/\\303\\244.ts"',
    'diff --git "a/l\\nb.ts" "b/l\\nb.ts"',
    '@@ -1 +1 @@ hidden',
    '[… 900 bytes left out; the whole is in no file …]',
    '@@ -7 +7 @@ of whom?',
    'diff --git a/one.ts b/two.ts',
    '[exit code 0]',
  ].join('\n');
  expect(parseChanges(text)).toEqual([
    {
      path: 'x y.ts',
      places: [
        { line: 3, added: 1, removed: 2, within: 'function f() {' },
        { line: 8, added: 0, removed: 1, within: '' },
      ],
    },
    { path: 'ä.ts', places: [] },
  ]);
  expect(parseUntracked('1:a b.ts\n2:"\\303\\244.ts"\n3:"x\\ty"\n[exit code 0]\n')).toEqual([
    'a b.ts',
    'ä.ts',
  ]);
});

test('no text makes a parser fail', () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom('diff --git a/x b/x', 'diff --git "', '@@ -1 +1 @@', '1:"\\9"', '[… '),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      parseChanges(lines.join('\n'));
      parseUntracked(lines.join('\n'));
    }),
  );
});
