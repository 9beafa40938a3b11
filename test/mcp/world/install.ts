import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';

/**
 * Installs packages at exact versions into a directory that is deleted after the tests of the file. Returns the
 * directory. Fails with a clear message if npm cannot reach its registry.
 */
export async function installPackages(packages: Readonly<Record<string, string>>): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'muster-mcp-world-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({ name: 'servers', private: true, dependencies: packages }),
  );
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
  try {
    await promisify(execFile)('npm', args, { cwd: directory, timeout: 180_000 });
  } catch (thrown) {
    const names = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
    throw new Error(
      `npm could not install ${names.join(', ')}: this part of the tests needs the network and the npm registry`,
      { cause: thrown },
    );
  }
  return directory;
}
