import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package of which the bundle contains at least one module. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** The SPDX identifier of its licence. */
  readonly license: string;
  /** The text of its licence. */
  readonly licenseText: string;
  /** The address of its repository, or null. */
  readonly repository: string | null;
}

/**
 * Finds the packages that bundled modules come from, in order of their names.
 *
 * The licence text is the file `textsDirectory/NAME.txt` (`/` in the name is written as `+`), which holds the text of
 * the repository for packages that do not ship it, or else the licence file of the package.
 *
 * @param moduleIds the absolute paths of all bundled modules
 * @throws Error if a package has no licence text
 */
export function findBundledPackages(
  moduleIds: readonly string[],
  textsDirectory: string,
): readonly BundledPackage[] {
  const directories = new Set(moduleIds.flatMap((id) => packageDirectory(id) ?? []));
  return [...directories]
    .map((directory) => readPackage(directory, textsDirectory))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** The directory of the package that a module belongs to; null for a module of this project. */
function packageDirectory(moduleId: string): string | null {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(moduleId)?.[0] ?? null;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly repository?: string | { readonly url: string };
}

function readPackage(directory: string, textsDirectory: string): BundledPackage {
  const manifest: Manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const { name, version, license, repository } = manifest;
  const url = typeof repository === 'object' ? repository.url : (repository ?? null);
  return {
    name,
    version,
    license,
    licenseText: licenseText(manifest, directory, textsDirectory),
    repository: url?.replace(/^git\+/, '') ?? null,
  };
}

function licenseText({ name, version }: Manifest, directory: string, texts: string): string {
  const byHand = join(texts, `${name.replace('/', '+')}.txt`);
  const shipped = readdirSync(directory).find((entry) => /^licen[cs]e([.-]|$)/i.test(entry));
  const file = existsSync(byHand)
    ? byHand
    : shipped === undefined
      ? null
      : join(directory, shipped);
  const text = file === null ? '' : readFileSync(file, 'utf8').trim();
  if (text !== '') return text;
  throw new Error(
    `${name} ${version} is bundled and ships no licence text. Take the text from its repository and save it as ${byHand}.`,
  );
}

const RULE = `\n\n${'-'.repeat(80)}\n\n`;

/**
 * The text of `LICENSES.txt`: each package with its version, licence and licence text, and at the end the full text
 * of the Apache License, to which some packages only refer.
 */
export function formatLicenses(packages: readonly BundledPackage[], apacheText: string): string {
  const texts = packages.map(
    ({ name, version, license, licenseText: text }) => `${name} ${version} (${license})\n\n${text}`,
  );
  return `${[...texts, `Apache License 2.0\n\n${apacheText.trim()}`].join(RULE)}\n`;
}

/** A package of the project that the bill of materials describes. */
export interface DescribedProject {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

/**
 * The bill of materials of the bundle as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). It has no time stamp
 * and no serial number, so that two builds of the same sources have the same bytes.
 */
export function formatBillOfMaterials(
  project: DescribedProject,
  packages: readonly BundledPackage[],
): string {
  const main = component(project, 'application');
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: main },
    components: packages.map((each) => ({
      ...component(each, 'library'),
      ...(each.repository !== null && {
        externalReferences: [{ type: 'vcs', url: each.repository }],
      }),
    })),
    dependencies: [{ ref: main['bom-ref'], dependsOn: packages.map(packageUrl) }],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function component(of: DescribedProject, type: 'application' | 'library') {
  const purl = packageUrl(of);
  const { name, version, license } = of;
  return { type, 'bom-ref': purl, name, version, purl, licenses: [{ license: { id: license } }] };
}

/** The package URL (https://github.com/package-url/purl-spec): `@` of a scope is percent-encoded. */
function packageUrl({ name, version }: DescribedProject): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}
