import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { newId } from '../../src/base/ids.ts';
import { DEFAULT_COPY_LIMITS } from '../../src/workspaces/copy-tree.ts';
import { createWorkspace, type WorkspaceOptions } from '../../src/workspaces/create.ts';
import { planWorkspace } from '../../src/workspaces/plan.ts';
import { tempDirectory } from '../sys/temp.ts';

/** The variables of a user who has an identity for commits and no other settings. */
const environment = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_DIR: '/nonexistent',
  GIT_INDEX_FILE: '/nonexistent',
};

export const access = { environment, signal: new AbortController().signal };

/** Runs git as a user would in a directory, and returns what it prints. */
export function git(directory: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', directory, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'User',
      GIT_AUTHOR_EMAIL: 'user@localhost',
      GIT_COMMITTER_NAME: 'User',
      GIT_COMMITTER_EMAIL: 'user@localhost',
    },
  }).replace(/\n$/, '');
}

/** Writes files below a directory. */
export function write(directory: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
}

/** Creates a repository with one commit of these files. */
export function createRepository(
  files: Readonly<Record<string, string | Buffer>>,
  ...initOptions: readonly string[]
): string {
  const directory = tempDirectory();
  git(directory, 'init', '--quiet', '--initial-branch=main', ...initOptions);
  write(directory, files);
  git(directory, 'add', '--all');
  git(directory, 'commit', '--quiet', '--allow-empty', '--message=first');
  return directory;
}

/** Creates a workspace for a directory, with a data directory of its own. */
export async function createFor(
  cwd: string,
  options: Partial<WorkspaceOptions & { dataDir: string; description: string }> = {},
) {
  const { dataDir = tempDirectory(), description = 'Add a test', ...rest } = options;
  const plan = planWorkspace({ cwd, id: newId(), description, dataDir });
  const made = await createWorkspace(
    plan,
    {
      environment,
      start: 'uncommitted',
      limits: DEFAULT_COPY_LIMITS,
      packages: { names: ['node_modules'], mode: 'link' },
      ...rest,
    },
    access.signal,
  );
  return { dataDir, plan, ...made };
}

/** Lists the entries below a directory with a hash of their content and mode, except those that `leaveOut` matches. */
export function hashTree(directory: string, leaveOut = /^$/): Record<string, string> {
  const hashes: Record<string, string> = {};
  const visit = (below: string): void => {
    for (const bytes of readdirSync(Buffer.from(`${directory}/${below}`, 'latin1'), {
      encoding: 'buffer',
    })) {
      const name = `${below}${bytes.toString('latin1')}`;
      if (leaveOut.test(name)) continue;
      const path = Buffer.from(`${directory}/${name}`, 'latin1');
      const stats = lstatSync(path);
      hashes[name] =
        `${(stats.mode & 0o170777).toString(8)} ${stats.isDirectory() ? '' : hash(path)}`;
      if (stats.isDirectory()) visit(`${name}/`);
    }
  };
  visit('');
  return hashes;
}

function hash(path: Buffer): string {
  const content = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}
