import { describe, expect, it } from 'vitest';
import { createInputTest, findNamedFiles } from '../../src/acceptance/check-inputs.ts';

const NOTHING = { commands: [], changed: [], mayChange: [] };

describe('the inputs of checks', () => {
  it.each([
    'test/add.test.mjs',
    'packages/a/src/add.spec.ts',
    'src/__tests__/deep/helper.js',
    'pkg/server_test.go',
    'tests/conftest.py',
    'src/test_parse.py',
    'src/main/java/AppTest.java',
    'spec/models/user_spec.rb',
    'src/__snapshots__/a.snap',
    'vitest.config.ts',
    'packages/a/jest.config.cjs',
    'jest.setup.ts',
    'tsconfig.build.json',
    '.mocharc.yml',
    'pytest.ini',
    'pyproject.toml',
    'sub/setup.cfg',
    'sitecustomize.py',
    'lib/evil.pth',
    'Makefile',
    'GNUmakefile',
    'scripts/rules.mk',
    'CMakeLists.txt',
    'Cargo.toml',
    '.cargo/config.toml',
    'build.rs',
    'go.mod',
    'pom.xml',
    'build.gradle.kts',
    '.husky/pre-commit',
    '.npmrc',
    '.env.test',
  ])('%s is an input', (path) => {
    expect(createInputTest(NOTHING, new Set())(path)).toBe(true);
  });

  it.each([
    'src/add.mjs',
    'src/latest.ts',
    'src/contest/entry.ts',
    'README.md',
    'src/inspector.rb',
    'lib/attest.py',
    'package.json',
    'src/config.ts',
  ])('%s is no input', (path) => {
    expect(createInputTest(NOTHING, new Set())(path)).toBe(false);
  });

  it('do not include files that may or must change', () => {
    const criteria = { commands: [], changed: ['test/new.test.ts'], mayChange: ['go.*'] };
    const isInput = createInputTest(criteria, new Set());
    const paths = ['test/new.test.ts', 'go.mod', 'go.sum', 'test/old.test.ts', 'sub/go.mod'];
    expect(paths.filter(isInput)).toEqual(['test/old.test.ts', 'sub/go.mod']);
  });

  it('include the files that commands, scripts of packages and other scripts name', () => {
    const files = new Map([
      ['run.sh', 'exec ./tools/check.py --strict "$@"; . lib/env.sh'],
      ['tools/check.py', 'print(open("data/expected.json").read())'],
      ['data/expected.json', '{}'],
      ['lib/env.sh', ''],
      ['ci/all.sh', ''],
      ['unrelated.sh', ''],
    ]);
    const named = findNamedFiles(
      ["FOO=1 bash -c './run.sh --fast' && echo done"],
      { exists: (path) => files.has(path), read: (path) => files.get(path) ?? null },
      ['sh ci/all.sh'],
    );
    expect([...named].toSorted()).toEqual([
      'ci/all.sh',
      'data/expected.json',
      'lib/env.sh',
      'run.sh',
      'tools/check.py',
    ]);
  });
});
