import { describe, expect, it } from 'vitest';
import { findNamedFiles } from '../../src/acceptance/named-files.ts';

const FILES: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({
    main: 'src/index.js',
    scripts: {
      test: 'sh ci/all.sh && node src/cli.js',
      pretest: 'node tools/pre',
      start: 'node server.js',
    },
  }),
  'packages/a/package.json': JSON.stringify({
    scripts: { test: 'node run.js', build: 'node make.js' },
  }),
  'packages/a/run.js': "import './lib2/harness.js';",
  'packages/a/lib2/harness.js': '',
  'packages/a/make.js': '',
  'src/index.js': '',
  'src/cli.js': '',
  'server.js': '',
  'ci/all.sh': '. "$(dirname "$0")/env.sh"; diff out data/expected.json',
  'ci/env.sh': '',
  'data/expected.json': '{}',
  'tools/pre.js': "import { add } from '../src/index.js'; import './checks.mjs';",
  'tools/checks.mjs': '',
  Makefile: 'test: prog\n\tsh verify.sh\nprog: src/a.c main.c\n',
  'verify.sh': './tools/check.py',
  'tools/check.py': '',
  'src/a.c': '',
  'main.c': '',
  'checks/a.mjs': '',
  'checks/run.py': '',
  'sub/verify.sh': '',
  'work.py': '',
};

function find(command: string): readonly string[] {
  const files = { paths: Object.keys(FILES), read: (path: string) => FILES[path] ?? null };
  return [...findNamedFiles({ commands: [command] }, files)].toSorted();
}

describe('the files that a command names', () => {
  it.each<[string, readonly string[]]>([
    ['true', []],
    ['python3 work.py', ['work.py']],
    ['cd sub && sh verify.sh', ['sub/verify.sh', 'tools/check.py', 'verify.sh']],
    ['node --test "checks/*.mjs"', ['checks/a.mjs']],
    ['python3 -m checks.run', ['checks/run.py']],
    ['node tools/pre', ['tools/checks.mjs', 'tools/pre.js']],
    [
      'npm test',
      [
        'ci/all.sh',
        'ci/env.sh',
        'data/expected.json',
        'packages/a/lib2/harness.js',
        'packages/a/run.js',
        'tools/checks.mjs',
        'tools/pre.js',
      ],
    ],
    ['npm run build', ['packages/a/make.js']],
    ['make test', ['tools/check.py', 'verify.sh']],
  ])('%s', (command, expected) => {
    expect(find(command)).toEqual(expected);
  });
});
