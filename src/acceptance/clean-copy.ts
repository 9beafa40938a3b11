import { createHash, type Hash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { systemErrorCode } from '../base/errors.ts';
import { isInside } from '../base/path-inside.ts';
import type { AcceptanceCriteria } from '../protocol/acceptance.ts';
import { readContent, type Baseline } from './baseline.ts';
import { createInputTest, isPackageManifest, matcher } from './check-inputs.ts';
import { restorePackageManifest } from './package-manifest.ts';
import { isPackageDirectory, scanTree, type ScannedFile, type TreeScan } from './scan-tree.ts';

/** A copy of the tree that a task left, with the inputs of the checks as they were before the task began. */
export interface CleanCopy {
  /** The SHA-256 of the names, modes and contents of the copied files, in hex. */
  readonly tree: string;
  /** The SHA-256 of each input of the checks, by path. */
  readonly inputs: ReadonlyMap<string, string>;
  /** The directories of installed packages to which the copy has links. Absolute. */
  readonly packages: readonly string[];
  /** The reasons why the work can't be accepted, whatever the commands say. */
  readonly problems: readonly string[];
  /** The inputs of the checks that the task has changed, and that the copy has as they were before. */
  readonly notes: readonly string[];
}

/** The options of a clean copy. */
interface CopyOptions {
  readonly criteria: AcceptanceCriteria;
  /** Absolute paths that rules hide from the commands of the task. */
  readonly hidden: readonly string[];
  readonly signal: AbortSignal;
}

/** The maximum number of paths that a problem or note lists. */
const MAX_LISTED = 10;
/** The number of files that are copied at the same time. */
const BATCH = 32;

/**
 * Copies the tree that a task left into an empty directory:
 *
 * - Files of the project are copied as the task left them.
 * - Tests, their configuration and the files that the commands name are as they were before; those that the task has
 *   added are left out. The criteria can except files.
 * - Files that git ignores are copied only if they are as they were, and caches not at all.
 * - Installed packages are linked. A package that has changed is a problem, because the checks run its code.
 */
export async function makeCleanCopy(
  baseline: Baseline,
  target: string,
  { criteria, hidden, signal }: CopyOptions,
): Promise<CleanCopy> {
  const now = await scanTree(baseline.root, { hidden, earlier: baseline.ignoreFiles, signal });
  const plan = planCopy(baseline, now, criteria);
  const hash = createHash('sha256');
  const inputs = new Map<string, string>();
  for (let from = 0; from < plan.files.length; from += BATCH) {
    signal.throwIfAborted();
    const batch = plan.files.slice(from, from + BATCH);
    const digests = await Promise.all(batch.map((file) => copyEntry(baseline, file, target)));
    for (const [index, file] of batch.entries()) {
      const digest = digests[index] ?? null;
      addToHash(hash, file.entry, digest);
      if (digest !== null && file.from !== 'left' && file.entry.kind === 'file')
        inputs.set(file.entry.path, digest);
    }
  }
  for (const path of plan.linkedPackages) {
    await mkdir(dirname(join(target, path)), { recursive: true });
    await symlink(join(baseline.root, path), join(target, path));
  }
  const problems = [...plan.problems, ...(await compareTrees(baseline, now, criteria))];
  const packages = plan.linkedPackages.map((path) => join(baseline.root, path));
  return { tree: hash.digest('hex'), inputs, packages, problems, notes: plan.notes };
}

function addToHash(hash: Hash, entry: ScannedFile, digest: string | null): void {
  if (digest === null) return;
  hash.update(`${entry.path}\0${entry.kind}\0${entry.mode & 0o111}\0${digest}\0`);
}

/** Finds the inputs of the checks that differ from those of the copy when it was made. */
export async function findTamperedInputs(
  copy: string,
  inputs: CleanCopy['inputs'],
): Promise<readonly string[]> {
  const tampered: string[] = [];
  for (const [path, digest] of inputs) {
    const content = await readContent(copy, { path, kind: 'file' });
    if (content === null || hashBytes(content) !== digest) tampered.push(path);
  }
  return tampered;
}

/** A file of the copy. */
interface PlannedFile {
  readonly entry: ScannedFile;
  /** `left`: as the task left it. `before`: as it was before. `manifest`: a `package.json`, of which parts are restored. */
  readonly from: 'left' | 'before' | 'manifest';
  /** True if the task has not changed the file. */
  readonly isSame: boolean;
}

interface CopyPlan {
  readonly files: readonly PlannedFile[];
  /** The paths of installed packages that the copy links to. */
  readonly linkedPackages: readonly string[];
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/** Decides what a clean copy contains. */
function planCopy(baseline: Baseline, now: TreeScan, criteria: AcceptanceCriteria): CopyPlan {
  const isInput = createInputTest(criteria, baseline.named);
  const isFree = matcher(criteria.mayChange);
  const files: PlannedFile[] = [];
  const restored: string[] = [];
  const leftOut: string[] = [];
  const changedPackages: string[] = [];
  const droppedFiles: string[] = [];
  const manifests: string[] = [];
  const paths = new Set([...baseline.entries.keys(), ...now.entries.keys()]);
  for (const path of [...paths].toSorted()) {
    const before = baseline.entries.get(path);
    const left = now.entries.get(path);
    const isSame = left?.stamp === before?.stamp;
    const role = (left ?? before)?.role;
    if (role === 'dependency') {
      if (!isSame && !isFree(path)) changedPackages.push(path);
      if (left !== undefined && isLinkToProject(baseline.root, left))
        files.push({ entry: left, from: 'left', isSame });
    } else if (role === 'ignored' && !isFree(path)) {
      if (left !== undefined && isSame) files.push({ entry: left, from: 'left', isSame });
      if (before !== undefined && !isSame) droppedFiles.push(path);
    } else if (isInput(path) || isManifestLink(left, before)) {
      if (before === undefined) leftOut.push(path);
      else files.push({ entry: before, from: 'before', isSame });
      if (before !== undefined && !isSame) restored.push(path);
    } else if (left !== undefined) {
      const isRestored = isPackageManifest(path) && !isSame && !isFree(path);
      files.push({ entry: left, from: isRestored ? 'manifest' : 'left', isSame });
      if (isRestored) manifests.push(path);
    }
  }
  const problems =
    changedPackages.length === 0
      ? []
      : [
          `installed packages have changed, and the checks run them: ${listPaths(changedPackages)}; put them back, or the one who set the task has to allow it with may_change`,
        ];
  const notes = [
    ...formatNote('the checks used these files as they were before the task', restored),
    ...formatNote('the checks left out these files, which the task has added', leftOut),
    ...formatNote(
      'the checks left out these files, which git ignores and which have changed',
      droppedFiles,
    ),
    ...formatNote('the checks used the scripts and settings from before the task in', manifests),
  ];
  return { files, linkedPackages: listLinkedPackages(baseline.root, now), problems, notes };
}

/** Returns true for a `package.json` that is a link, so that no fields of it could be restored. */
function isManifestLink(left: ScannedFile | undefined, before: ScannedFile | undefined): boolean {
  if (left?.kind !== 'link' || !isPackageManifest(left.path)) return false;
  return left.stamp !== before?.stamp;
}

/**
 * Lists the paths of installed packages to which a copy links: each package of `node_modules`, so that the caches beside
 * them stay out, and other directories of packages as a whole. Links to packages of the project itself are copied.
 */
function listLinkedPackages(root: string, now: TreeScan): readonly string[] {
  const linked = new Set<string>();
  for (const entry of now.entries.values()) {
    if (entry.role !== 'dependency' || isLinkToProject(root, entry)) continue;
    const parts = entry.path.split('/');
    const at = parts.findIndex((part) => isPackageDirectory(part));
    const isScope = parts[at + 1]?.startsWith('@') === true;
    const depth = parts[at] !== 'node_modules' ? 1 : isScope ? 3 : 2;
    linked.add(parts.slice(0, at + depth).join('/'));
  }
  return [...linked];
}

/** Returns true for an installed package that is a link to a directory of the project, as in a workspace of npm. */
function isLinkToProject(root: string, { path, leadsTo }: ScannedFile): boolean {
  if (leadsTo === undefined) return false;
  const full = resolve(dirname(join(root, path)), leadsTo);
  return isInside(root, full) && !full.slice(root.length).split('/').some(isPackageDirectory);
}

function formatNote(text: string, paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [] : [`${text}: ${listPaths(paths)}`];
}

function listPaths(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_LISTED).join(', ');
  return paths.length <= MAX_LISTED ? shown : `${shown} and ${paths.length - MAX_LISTED} more`;
}

/** Copies one file. Returns the SHA-256 of the content of the copy, or null if the file is gone. */
async function copyEntry(
  baseline: Baseline,
  { entry, from, isSame }: PlannedFile,
  target: string,
): Promise<string | null> {
  const { path, mode, kind } = entry;
  const to = join(target, path);
  const former = baseline.contents.get(path) ?? null;
  await mkdir(dirname(to), { recursive: true });
  if (kind === 'link') {
    const content = from === 'before' ? former : await readContent(baseline.root, entry);
    if (content === null) return null;
    const leadsTo = content.toString('utf8');
    await copyLink(baseline.root, path, { target, leadsTo, mayLeadOut: isSame });
    return hashBytes(content);
  }
  if (from === 'left') {
    if (!(await copyIfPresent(join(baseline.root, path), to))) return null;
    await chmod(to, mode | 0o600);
    const { atime, mtime } = await lstat(join(baseline.root, path));
    await utimes(to, atime, mtime);
    return await hashFile(to);
  }
  const left = from === 'manifest' ? await readContent(baseline.root, entry) : former;
  if (left === null) return null;
  const text = from === 'manifest' ? left.toString('utf8') : null;
  const content =
    text === null
      ? left
      : Buffer.from(restorePackageManifest(former?.toString('utf8') ?? null, text));
  await writeFile(to, content, { mode: mode | 0o600, flag: 'wx' });
  return hashBytes(content);
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

function hashBytes(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Copies a file. Returns false if it does not exist any more, or if nobody may read it. */
async function copyIfPresent(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    return true;
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code !== 'ENOENT' && code !== 'EACCES') throw thrown;
    return false;
  }
}

/**
 * Copies a link. If it leads to a file of the tree, its copy leads into the copy. A link out of the tree is copied only
 * if the task has not changed it, because nobody compares the files to which it leads.
 */
async function copyLink(
  root: string,
  path: string,
  link: { readonly target: string; readonly leadsTo: string; readonly mayLeadOut: boolean },
): Promise<void> {
  const { target, leadsTo, mayLeadOut } = link;
  const from = dirname(join(root, path));
  const full = resolve(from, leadsTo);
  const isInTree = isInside(root, full);
  if (!isInTree && !mayLeadOut) return;
  const written = isInTree ? relative(from, full) || '.' : full;
  await symlink(written, join(target, path));
}

/** Compares the trees by the criteria. Returns a sentence for each criterion that is not met. */
async function compareTrees(
  baseline: Baseline,
  now: TreeScan,
  criteria: AcceptanceCriteria,
): Promise<readonly string[]> {
  const changes = await findChanges(baseline, now, criteria);
  const problems: string[] = [];
  for (const pattern of criteria.changed) {
    const matches = matcher([pattern]);
    if (!changes.some(({ path }) => matches(path)))
      problems.push(`${pattern} must change, and nothing that matches it has changed`);
  }
  const isFixed = matcher(criteria.unchanged);
  const changed = changes.filter(({ path }) => isFixed(path)).map(({ path }) => path);
  if (changed.length > 0)
    problems.push(`these files must stay as they were: ${listPaths(changed)}`);
  const max = criteria.maxChangedLines;
  const counted = max === null ? [] : changes.filter(({ role }) => role === 'source');
  const lines = counted.reduce((sum, each) => sum + countChangedLines(each.before, each.after), 0);
  if (max !== null && lines > max)
    problems.push(`${lines} lines were added or removed (limit max_changed_lines = ${max})`);
  return problems;
}

interface Change {
  readonly path: string;
  readonly role: ScannedFile['role'] | undefined;
  readonly before: Buffer | null;
  readonly after: Buffer | null;
}

/** Finds the files that the criteria compare and whose content or mode differs. Installed packages are not compared. */
async function findChanges(
  baseline: Baseline,
  now: TreeScan,
  { changed, unchanged, maxChangedLines }: AcceptanceCriteria,
): Promise<readonly Change[]> {
  const isCompared = maxChangedLines === null ? matcher([...changed, ...unchanged]) : () => true;
  const changes: Change[] = [];
  for (const path of new Set([...baseline.entries.keys(), ...now.entries.keys()])) {
    const [former, left] = [baseline.entries.get(path), now.entries.get(path)];
    if (former?.stamp === left?.stamp || !isCompared(path)) continue;
    const role = (left ?? former)?.role;
    if (role === 'dependency') continue;
    const before = baseline.contents.get(path) ?? null;
    const after = left === undefined ? null : await readContent(baseline.root, left);
    const isSameContent = before !== null && after !== null && before.equals(after);
    if (!isSameContent || former?.mode !== left?.mode) changes.push({ path, role, before, after });
  }
  return changes;
}

/** Counts the lines that were added or removed. A line that has only moved does not count. */
function countChangedLines(before: Buffer | null, after: Buffer | null): number {
  const counts = new Map<string, number>();
  for (const line of listLines(before)) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of listLines(after)) counts.set(line, (counts.get(line) ?? 0) - 1);
  return [...counts.values()].reduce((sum, count) => sum + Math.abs(count), 0);
}

function listLines(content: Buffer | null): readonly string[] {
  if (content === null || content.length === 0) return [];
  return content.toString('latin1').replace(/\n$/, '').split('\n');
}
