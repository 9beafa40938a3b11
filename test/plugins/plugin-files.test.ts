import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hashPluginFiles,
  PLUGIN_LIMITS,
  PluginFileCollector,
  type PluginFile,
} from '../../src/plugins/plugin-files.ts';

const file = (path: string, text = '', isExecutable = false): PluginFile => ({
  path,
  bytes: Buffer.from(text),
  isExecutable,
});

const FILES = fc.uniqueArray(
  fc.record({
    path: fc.string({ unit: fc.constantFrom('a', 'b', '/', '"', ','), minLength: 1, maxLength: 6 }),
    bytes: fc.string({ maxLength: 4 }).map((text) => Buffer.from(text)),
    isExecutable: fc.boolean(),
  }),
  { selector: ({ path }) => path, maxLength: 6 },
);

describe('the hash of files', () => {
  it('does not depend on their order', () => {
    fc.assert(
      fc.property(FILES, fc.infiniteStream(fc.nat()), (files, numbers) => {
        const keyed = files.map((each) => [numbers.next().value, each] as const);
        const shuffled = keyed.toSorted(([a], [b]) => a - b).map(([, each]) => each);
        expect(hashPluginFiles(shuffled)).toBe(hashPluginFiles(files));
      }),
    );
  });

  it('differs for files that differ in anything', () => {
    const describeFiles = (files: readonly PluginFile[]): string =>
      JSON.stringify(
        files
          .map(({ path, bytes, isExecutable }) => [path, bytes.toString('hex'), isExecutable])
          .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
      );
    fc.assert(
      fc.property(FILES, FILES, (a, b) => {
        expect(hashPluginFiles(a) === hashPluginFiles(b)).toBe(
          describeFiles(a) === describeFiles(b),
        );
      }),
    );
  });

  it.each<readonly [string, readonly PluginFile[]]>([
    ['another content', [file('a', 'y')]],
    ['another path', [file('b', 'x')]],
    ['the right to be executed', [file('a', 'x', true)]],
    ['one file more', [file('a', 'x'), file('b')]],
    ['no file', []],
  ])('changes with %s', (_, files) => {
    expect(hashPluginFiles(files)).not.toBe(hashPluginFiles([file('a', 'x')]));
  });
});

describe('a file of a plugin', () => {
  it.each([
    ['../x', 'the path ../x leads out of its directory'],
    ['a/../x', 'the path a/../x leads out of its directory'],
    ['/x', 'the path /x leads out of its directory'],
    ['a//x', 'the path a//x leads out of its directory'],
    ['', 'the path  leads out of its directory'],
    ['a\\x', 'the path a\\x has unprintable characters or a backslash'],
    ['a\u001Bx', 'has unprintable characters or a backslash'],
    ['a\u202Ex', 'has unprintable characters or a backslash'],
    ['a/.GIT/config', 'the path a/.GIT/config is part of a git directory'],
    ['x'.repeat(401), `the path ${'x'.repeat(400)}… is longer than 400 characters`],
  ])('cannot have the path %j', (path, reason) => {
    const files = new PluginFileCollector('kit');
    expect(() => files.add(file(path))).toThrow(reason);
  });

  it.each([
    ['README.md', 'readme.md'],
    ['caf\u00E9', 'cafe\u0301'],
  ])('cannot be %j if there is a file %j', (first, second) => {
    const files = new PluginFileCollector('kit');
    files.add(file(first));
    expect(() => files.add(file(second))).toThrow('are the same file on some systems');
  });

  it('has limits, which are named', () => {
    const { fileBytes, totalBytes } = PLUGIN_LIMITS;
    const files = new PluginFileCollector('kit');
    expect(() => files.check('big', fileBytes + 1)).toThrow(
      'kit cannot be used as a plugin: big is larger than 10 MB. This limit cannot be changed',
    );
    for (let index = 0; index < totalBytes / fileBytes; index += 1) {
      files.add({ path: `${index}`, bytes: Buffer.alloc(fileBytes), isExecutable: false });
    }
    expect(() => files.check('more', 1)).toThrow('its files are larger than 50 MB together');
    const many = new PluginFileCollector('kit');
    for (let index = 0; index < PLUGIN_LIMITS.files; index += 1) many.add(file(`${index}`));
    expect(() => many.check('more', 0)).toThrow('it has more than 5000 files');
  });
});
