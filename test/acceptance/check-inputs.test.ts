import { describe, expect, it } from 'vitest';
import { createInputTest, selectLikelyInputs } from '../../src/acceptance/check-inputs.ts';

const NOTHING = { mayChange: [] };

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
    '.prettierignore',
    '.flake8',
    'test.js',
    'polls/tests.py',
    'src/tests.rs',
    'unittest.py',
    'gulpfile.js',
    '.pnp.cjs',
    'src/integrationTest/java/App.java',
    'e2e/login.ts',
    'packages/a/spec/a.rb',
    '.venv/lib/site-packages/x.pth',
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
    'src/spec/parse.ts',
    'src/e2e/encrypt.ts',
    'src/main/java/PodSpec.java',
    'Dockerfile',
    'model.pth',
  ])('%s is no input', (path) => {
    expect(createInputTest(NOTHING, new Set())(path)).toBe(false);
  });

  it('do not include files that may change', () => {
    const isInput = createInputTest({ mayChange: ['test/new.test.ts', '/go.*'] }, new Set());
    const paths = ['test/new.test.ts', 'go.mod', 'go.sum', 'test/old.test.ts', 'sub/go.mod'];
    expect(paths.filter(isInput)).toEqual(['test/old.test.ts', 'sub/go.mod']);
  });
});

it.each([
  [['src/a.ts', 'README.md', 'docs/a.md'], []],
  [['test/a.test.ts', 'src/b.spec.ts', 'src/__snapshots__/b.snap'], 'all'],
  [['package.json', 'web/package.json', 'package-lock.json', 'tsconfig.json'], 'all'],
  [['.github/workflows/ci.yml', '.gitlab-ci.yml', 'Makefile', 'pytest.ini'], 'all'],
  [
    ['src/a.ts', 'src/a_test.go', 'lib/conftest.py'],
    ['src/a_test.go', 'lib/conftest.py'],
  ],
])('of the changes %j, those that may decide about the check are named', (paths, expected) => {
  expect(selectLikelyInputs(paths)).toEqual(expected === 'all' ? paths : expected);
});
