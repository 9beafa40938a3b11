import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { TRUST_NOTHING } from '../../src/sys/files/project-file.ts';
import { readConfig, type ConfigInputs } from '../../src/config/load.ts';

const made: string[] = [];

afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

/** A home and a repository of their own, with these files in them. */
export function makePlace(files: { readonly user?: string; readonly project?: string } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-config-')));
  made.push(root);
  const home = join(root, 'home');
  const cwd = join(root, 'repo');
  const userFile = join(home, '.config', 'muster', 'config.toml');
  const projectFile = join(cwd, '.muster', 'config.toml');
  mkdirSync(join(cwd, '.git'), { recursive: true });
  mkdirSync(home, { recursive: true });
  if (files.user !== undefined) write(userFile, files.user);
  if (files.project !== undefined) write(projectFile, files.project);
  const inputs = (changes: Partial<ConfigInputs> = {}): ConfigInputs => ({
    environment: {},
    home,
    cwd,
    trust: TRUST_NOTHING,
    flags: [],
    ...changes,
  });
  return { root, home, cwd, userFile, projectFile, inputs };
}

export function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** What is wrong with a user file of this text, its path cut from the places. */
export async function problemsIn(text: string): Promise<readonly string[]> {
  const place = makePlace({ user: text });
  const { problems } = await readConfig(place.inputs());
  return problems.map(
    ({ where, message }) => `${where.replace(place.userFile, 'FILE')}: ${message}`,
  );
}
