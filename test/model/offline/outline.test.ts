import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findOutlinedDirectory } from '../../../src/model/offline/intent.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { ask } from './harness.ts';

class Project {
  readonly root = tempDirectory();

  write(path: string, text: string): this {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
    return this;
  }
}

describe('Summary', () => {
  test('of a directory is a line for each file', async () => {
    const project = new Project()
      .write('lib/README.md', '# Jars\n\nWhere cookies are kept.\n')
      .write(
        'lib/jar.ts',
        '// Copyright of somebody.\n\n/** Keeps cookies. Not yours. */\nclass Jar {\n  add() {\n  }\n}\n',
      )
      .write('lib/deep/x.go', '// Package x waits.\npackage x\n\nfunc Wait() {\n}\n')
      .write('lib/data.json', '{}\n')
      .write('other/lib/y.ts', 'export const y = 1;\n');
    const { text, turns } = await ask('Summarise the lib directory', {
      root: project.root,
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

  test('uses neither a license nor data as a description, and treats code among texts as code', async () => {
    const licence = '// Copyright 2020 Somebody\n//\n// Unless agreed to, it comes as it is.\n';
    const project = new Project()
      .write('lib/a.go', `${licence}\npackage a\n\nfunc Wait() {\n\tif len(a) == 0 {\n\t}\n}\n`)
      .write(
        'lib/b.js',
        '/*\n * Copyright me\n * Use it as you like.\n */\n\n// Counts.\nlet b = 1;\n',
      )
      .write('lib/docs/c.go', '# no heading\nfunc Make() {\n}\n')
      .write('lib/d.yml', 'let it be\n');
    const { text } = await ask('Summarise lib', { root: project.root, agentType: 'Summary' });
    expect(text.split('\n').slice(3)).toEqual([
      '- `lib/a.go:7` · `Wait`',
      '- `lib/b.js:7` · Counts. · `b`',
      '- `lib/docs/c.go:2` · no heading · `Make`',
      '- `lib/d.yml:1`',
    ]);
  });

  test('of something that is not a directory is a search', async () => {
    const project = new Project().write('a.ts', 'export function retries() {\n}\n');
    const { text } = await ask('Summarise retries', { root: project.root });
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
])('asks for changes, which git lists: %s → %s', async (question, expected) => {
  const { root } = new Project().write('a.ts', 'export const a = 1;\n');
  const { text } = await ask(question, { root });
  expect(text.includes('git diff')).toBe(expected);
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
  expect(findOutlinedDirectory(question)).toBe(expected);
});
