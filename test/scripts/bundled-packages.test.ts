import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  findBundledPackages,
  formatBillOfMaterials,
  formatLicenses,
} from '../../scripts/bundled-packages.ts';
import { bundle, root } from '../../scripts/bundle.ts';

describe('the notices of the built package', () => {
  const licenses = readFileSync(join(root, 'dist/LICENSES.txt'), 'utf8');
  const bill = JSON.parse(readFileSync(join(root, 'dist/muster.cdx.json'), 'utf8'));

  it('have the licence text, name and version of every package that is bundled', async () => {
    const moduleIds = (await bundle()).flatMap((chunk) => chunk.moduleIds);
    const packages = findBundledPackages(moduleIds, join(root, 'scripts/licenses'));
    expect(packages.length).toBeGreaterThan(10);
    for (const { name, version, license, licenseText } of packages) {
      expect(licenses).toContain(`\n${name} ${version} (${license})\n\n${licenseText}`.trimStart());
      expect(licenseText).toMatch(/copyright/i);
    }
    expect(licenses).toContain('Apache License\n                           Version 2.0');
    expect(
      bill.components.map((each: { name: string; version: string }) => [each.name, each.version]),
    ).toEqual(packages.map(({ name, version }) => [name, version]));
  });
});

describe('a bundled package', () => {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'muster-packages-'));
    mkdirSync(join(directory, 'texts'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  function addPackage(name: string, files: Readonly<Record<string, string>>): string {
    const path = join(directory, 'node_modules', name);
    mkdirSync(path, { recursive: true });
    const manifest = {
      name,
      version: '1.2.3',
      license: 'MIT',
      repository: { url: 'git+https://example.test/one.git' },
    };
    writeFileSync(join(path, 'package.json'), JSON.stringify(manifest));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
    return join(path, 'dist/index.js');
  }

  const find = (ids: readonly string[]) => findBundledPackages(ids, join(directory, 'texts'));

  it('is found once, whatever number of its modules is bundled, with its licence text', () => {
    const one = addPackage('@scope/one', { 'LICENSE-MIT': ' Copyright One\n' });
    const two = addPackage('two', { 'licence.md': 'Copyright Two' });
    expect(find([two, one, join(one, '../other.js'), join(directory, 'src/own.ts')])).toEqual([
      {
        name: '@scope/one',
        version: '1.2.3',
        license: 'MIT',
        licenseText: 'Copyright One',
        repository: 'https://example.test/one.git',
      },
      {
        name: 'two',
        version: '1.2.3',
        license: 'MIT',
        licenseText: 'Copyright Two',
        repository: 'https://example.test/one.git',
      },
    ]);
  });

  it('that ships no licence text stops the build, which says where the text belongs', () => {
    const id = addPackage('@scope/bare', { 'README.md': '' });
    expect(() => find([id])).toThrow(
      `@scope/bare 1.2.3 is bundled and ships no licence text. Take the text from its repository and save it as ${join(directory, 'texts/@scope+bare.txt')}.`,
    );
  });

  it('that ships no licence text, or only a reference to one, has the text that was taken by hand', () => {
    const id = addPackage('@scope/bare', { LICENSE: 'See the LICENSE file of the repository.' });
    writeFileSync(join(directory, 'texts/@scope+bare.txt'), 'Copyright Bare\n');
    expect(find([id]).map(({ licenseText }) => licenseText)).toEqual(['Copyright Bare']);
  });

  it('is a component of the bill of materials', () => {
    const packages = find([addPackage('@scope/one', { LICENSE: 'Copyright One' })]);
    const project = { name: 'project', version: '0.1.0', license: 'MIT' };
    expect(JSON.parse(formatBillOfMaterials(project, packages))).toEqual({
      $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      version: 1,
      metadata: {
        component: {
          type: 'application',
          'bom-ref': 'pkg:npm/project@0.1.0',
          name: 'project',
          version: '0.1.0',
          purl: 'pkg:npm/project@0.1.0',
          licenses: [{ license: { id: 'MIT' } }],
        },
      },
      components: [
        {
          type: 'library',
          'bom-ref': 'pkg:npm/%40scope/one@1.2.3',
          name: '@scope/one',
          version: '1.2.3',
          purl: 'pkg:npm/%40scope/one@1.2.3',
          licenses: [{ license: { id: 'MIT' } }],
          externalReferences: [{ type: 'vcs', url: 'https://example.test/one.git' }],
        },
      ],
      dependencies: [{ ref: 'pkg:npm/project@0.1.0', dependsOn: ['pkg:npm/%40scope/one@1.2.3'] }],
    });
    expect(formatLicenses(packages, 'The text.\n')).toBe(
      `@scope/one 1.2.3 (MIT)\n\nCopyright One\n\n${'-'.repeat(80)}\n\nApache License 2.0\n\nThe text.\n`,
    );
  });
});
