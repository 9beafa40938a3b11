import { describe, expect, it } from 'vitest';
import {
  listPackageScripts,
  restorePackageManifest,
} from '../../src/acceptance/package-manifest.ts';

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

describe('the package.json of a check', () => {
  it('has the dependencies that the task left, and the scripts and settings from before', () => {
    const before = json({ name: 'a', scripts: { test: 'vitest run' }, jest: { bail: true } });
    const left = json({
      name: 'a',
      type: 'module',
      dependencies: { zod: '4' },
      scripts: { test: 'true' },
      mocha: { require: 'evil.js' },
    });
    expect(JSON.parse(restorePackageManifest(before, left))).toEqual({
      name: 'a',
      type: 'module',
      dependencies: { zod: '4' },
      scripts: { test: 'vitest run' },
      jest: { bail: true },
    });
  });

  it('has no scripts if the task has added it', () => {
    const left = json({ name: 'a', scripts: { test: 'true' } });
    expect(JSON.parse(restorePackageManifest(null, left))).toEqual({ name: 'a' });
  });

  it.each([
    '{"name":',
    '\uFEFF{"scripts":{"test":"true"}}',
    '// none\n{"scripts":{"test":"true"}}',
  ])('has only the fields from before if the task left %j, which is not plain JSON', (left) => {
    const before = json({ name: 'a', scripts: { test: 'sh test.sh' } });
    expect(JSON.parse(restorePackageManifest(before, left))).toEqual({
      scripts: { test: 'sh test.sh' },
    });
  });

  it('names its scripts', () => {
    const text = json({ scripts: { test: 'sh test.sh', odd: 3 } });
    expect([text, 'no json', '[]', '{}'].map(listPackageScripts)).toEqual([
      new Map([['test', 'sh test.sh']]),
      new Map(),
      new Map(),
      new Map(),
    ]);
  });
});
