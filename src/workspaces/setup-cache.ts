import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, MusterError, systemErrorCode } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { listNames } from '../base/text.ts';
import type { TreeCopier } from './copy-tree.ts';
import { copyEntries, listIgnored } from './ignored-files.ts';
import { toBytes, type GitPlace, type WorkspaceGit } from './git.ts';
import { deleteDirectory } from './worktree-files.ts';

/** A command of the user that prepares a new workspace, such as `npm ci`. */
export interface SetupOptions {
  readonly command: string;
  /** Runs the command in a directory. Rejects with a MusterError if it fails. */
  readonly run: (command: string, cwd: string) => Promise<void>;
}

/** The directories and tools for one run of a setup command. */
interface SetupPlace {
  /** The data directory. */
  readonly dataDir: string;
  readonly source: string;
  readonly git: WorkspaceGit;
  /** The working tree of the new workspace. */
  readonly place: GitPlace;
  /** The directory in which the command runs. */
  readonly workingDirectory: string;
  readonly newCopier: () => TreeCopier;
}

/** Files that say which versions of packages are installed. */
const LOCK_FILES = listNames(`
  package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
  Cargo.lock go.sum Gemfile.lock composer.lock poetry.lock uv.lock Pipfile.lock requirements.txt
  pubspec.lock mix.lock Package.resolved gradle.lockfile packages.lock.json
`);
/** The maximum number of results that are kept. The one that was not used for the longest time is deleted first. */
const MAX_RESULTS = 4;
const RESULTS_DIRECTORY = 'workspace-setups';
/** The beginning of the names of results that are being written or deleted. */
const DRAFT_PREFIX = 'draft-';
/** The age in milliseconds from which a draft counts as left by a killed process. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/**
 * Runs a setup command, or copies what it created when it last ran with the same lock files in a workspace of the same
 * source. Only what git ignores is kept. Several processes may do this at the same time. Returns sentences about what
 * did not work but does no harm.
 */
export async function prepareWorkspace(
  { command, run }: SetupOptions,
  setup: SetupPlace,
): Promise<readonly string[]> {
  const { dataDir, git, place, workingDirectory, newCopier } = setup;
  const all = join(dataDir, RESULTS_DIRECTORY);
  const result = join(all, await computeKey(command, setup));
  const before = new Set(await listIgnored(git, place));
  if (await restoreResult(result, place.workTree, newCopier())) return [];
  await run(command, workingDirectory);
  const created = (await listIgnored(git, place)).filter((path) => !before.has(path));
  const problem = await keepResult(all, result, {
    from: place.workTree,
    paths: created.map((path) => path.replace(/\/$/, '')),
    copier: newCopier(),
  });
  await deleteOldResults(all);
  return problem === null ? [] : [`the result of the setup command is not kept: ${problem}`];
}

/** Computes the name of a result: a hash of the command, the source and all lock files that git tracks. */
async function computeKey(command: string, setup: SetupPlace): Promise<string> {
  const { git, place, source, workingDirectory } = setup;
  const patterns = LOCK_FILES.map((name) => `:(glob,top)**/${name}`);
  const listed = await git.list(place, ['ls-files', '-z', '--', ...patterns.map(toBytes)]);
  const hash = createHash('sha256');
  hash.update(JSON.stringify([command, source, workingDirectory.slice(place.workTree.length)]));
  for (const path of listed) {
    const content = await readFile(
      Buffer.concat([Buffer.from(`${place.workTree}/`), Buffer.from(path, 'latin1')]),
    ).catch(ignoreMissing);
    hash.update(`\0${path}\0${content?.length ?? -1}\0`).update(content ?? '');
  }
  return hash.digest('hex').slice(0, 32);
}

/** Copies a result into a tree. Returns false if there is none, or if another process has just deleted it. */
async function restoreResult(result: string, tree: string, copier: TreeCopier): Promise<boolean> {
  const list = await readFile(join(result, 'paths.json'), 'utf8').catch(ignoreMissing);
  if (list === null) return false;
  const now = new Date();
  await utimes(result, now, now).catch(ignoreMissing);
  const paths: readonly string[] = JSON.parse(list);
  return (await copyEntries(copier, join(result, 'files'), tree, paths)).length === 0;
}

interface SetupResult {
  readonly from: string;
  readonly paths: readonly string[];
  readonly copier: TreeCopier;
}

/**
 * Keeps a result under its name, as a whole. Returns why it could not be kept: it is too large, or the disk is full. If
 * another process was faster, its result stays.
 */
async function keepResult(
  all: string,
  result: string,
  { from, paths, copier }: SetupResult,
): Promise<string | null> {
  const draft = join(all, `${DRAFT_PREFIX}${newId()}`);
  try {
    await mkdir(join(draft, 'files'), { recursive: true, mode: 0o700 });
    const failed = await copyEntries(copier, from, join(draft, 'files'), paths);
    if (failed.length > 0) return `${failed[0]} could not be copied`;
    await writeFile(join(draft, 'paths.json'), JSON.stringify(paths));
    await rename(draft, result);
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return null;
    const isExpected = code !== undefined || thrown instanceof MusterError;
    if (!isExpected) throw thrown;
    return errorMessage(thrown);
  } finally {
    await deleteDirectory(draft);
  }
  return null;
}

/** Deletes the results that were not used for the longest time, and what killed processes have left. */
async function deleteOldResults(all: string): Promise<void> {
  const found: { readonly name: string; readonly usedAt: number }[] = [];
  for (const name of await readdir(all)) {
    const stats = await stat(join(all, name)).catch(ignoreMissing);
    const usedAt = stats?.mtimeMs ?? 0;
    const isDraft = name.startsWith(DRAFT_PREFIX);
    if (!isDraft) found.push({ name, usedAt });
    else if (Date.now() - usedAt > ABANDONED_MS) await deleteDirectory(join(all, name));
  }
  const old = found.toSorted((a, b) => b.usedAt - a.usedAt).slice(MAX_RESULTS);
  for (const { name } of old) {
    // Under another name, nobody takes a part of it for the result.
    const doomed = join(all, `${DRAFT_PREFIX}${newId()}`);
    await rename(join(all, name), doomed).catch(ignoreMissing);
    await deleteDirectory(doomed);
  }
}

/** Returns null for a file that does not exist; throws any other error. */
function ignoreMissing(thrown: unknown): null {
  if (systemErrorCode(thrown) === 'ENOENT') return null;
  throw thrown;
}
