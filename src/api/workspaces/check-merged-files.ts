import * as fs from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeCleanCopy } from '../../acceptance/clean-copy.ts';
import { takeBaseline } from '../../acceptance/baseline.ts';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { isInside } from '../../base/path-inside.ts';
import type { LandingCheck } from '../../protocol/workspace.ts';
import { toFileError } from '../../sys/files/file-errors.ts';
import { holdDirectory } from '../../sys/files/held-directory.ts';
import { makeUserOnlyTempDirectory } from '../../sys/sandbox/private-directories.ts';
import type { PathDifference } from '../../workspaces/difference.ts';
import type { LandingPlan } from '../../workspaces/landing/plan-landing.ts';

/** The maximum length of the output of a failed command in the error. The last part is kept. */
const MAX_OUTPUT = 4_000;

/**
 * Runs the acceptance commands of a task on a copy of the source with the merged changes, before the source itself is
 * changed. Throws MusterError CONFLICT if one of them fails.
 *
 * @param subdirectory the directory below the source in which the commands run
 */
export async function checkMergedFiles(
  { source, changes }: LandingPlan,
  { criteria, hidden, run }: LandingCheck,
  { subdirectory, signal }: { readonly subdirectory: string; readonly signal: AbortSignal },
): Promise<void> {
  if (criteria.commands.length === 0) return;
  // The task was already compared with the files from which it started.
  const commandsOnly = { ...criteria, changed: [], unchanged: [], maxChangedLines: null };
  const baseline = await takeBaseline(source, { criteria: commandsOnly, hidden, signal });
  const directory = makeUserOnlyTempDirectory(`muster-landing-${process.pid}-`);
  try {
    const copy = join(directory, 'copy');
    await mkdir(copy);
    await makeCleanCopy(baseline, copy, { criteria: commandsOnly, hidden, signal });
    const isHidden = ({ path, from = path }: PathDifference): boolean =>
      hidden.some((each) => [path, from].some((own) => isInside(each, join(source, own))));
    applyChanges(
      copy,
      changes.filter((change) => !isHidden(change)),
    );
    for (const command of criteria.commands) {
      const { exitCode, output } = await run(command, join(copy, subdirectory));
      if (exitCode === 0) continue;
      throw new MusterError(
        'CONFLICT',
        `nothing was changed, because the merged files are not accepted: ${command} ${exitCode === null ? 'was ended' : `exited with ${exitCode}`}\n${output.slice(-MAX_OUTPUT)}`,
      );
    }
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Brings the copy to the state after the changes. A path that leads through a link of the copy is refused. */
function applyChanges(copy: string, changes: readonly PathDifference[]): void {
  const touched = changes.flatMap(({ path, from }) => (from === undefined ? [path] : [from, path]));
  // What stands in the way of a new path is gone before the path is written: a link above it comes before it.
  for (const path of [...new Set(touched)].toSorted()) removePath(copy, path);
  for (const change of changes) writeAfter(copy, change);
}

function removePath(copy: string, path: string): void {
  try {
    using parent = holdDirectory(copy, dirname(join(copy, path)));
    fs.rmSync(parent.at(basename(path)), { force: true, recursive: true });
  } catch (thrown) {
    // The path is gone with one above it, or was never copied.
    const code = systemErrorCode(thrown);
    if (code === 'ENOENT') return;
    throw refusePath(path, thrown);
  }
}

function writeAfter(copy: string, { path, after }: PathDifference): void {
  if (after === null) return;
  const name = basename(path);
  try {
    using parent = holdDirectory(copy, dirname(join(copy, path)), { create: true });
    if (after.kind === 'link') return fs.symlinkSync(after.target, parent.at(name));
    fs.writeFileSync(parent.at(name), after.bytes, { flag: 'wx' });
    if (after.executable) fs.chmodSync(parent.at(name), 0o755);
  } catch (thrown) {
    throw refusePath(path, thrown);
  }
}

function refusePath(path: string, thrown: unknown): MusterError {
  const cause = toFileError(path, thrown);
  return new MusterError(
    'CONFLICT',
    `nothing was changed, because the merged files cannot be checked: ${cause.message}`,
    { cause },
  );
}
