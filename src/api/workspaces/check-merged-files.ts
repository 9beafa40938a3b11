import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeCleanCopy } from '../../acceptance/clean-copy.ts';
import { takeBaseline } from '../../acceptance/baseline.ts';
import { MusterError } from '../../base/errors.ts';
import type { LandingCheck } from '../../protocol/workspace.ts';
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
  { criteria, run }: LandingCheck,
  { subdirectory, signal }: { readonly subdirectory: string; readonly signal: AbortSignal },
): Promise<void> {
  if (criteria.commands.length === 0) return;
  // The task was already compared with the files from which it started.
  const commandsOnly = { ...criteria, changed: [], unchanged: [], maxChangedLines: null };
  const baseline = await takeBaseline(source, { criteria: commandsOnly, hidden: [], signal });
  const directory = makeUserOnlyTempDirectory(`muster-landing-${process.pid}-`);
  try {
    const copy = join(directory, 'copy');
    await mkdir(copy);
    await makeCleanCopy(baseline, copy, { criteria: commandsOnly, hidden: [], signal });
    for (const change of changes) await applyChange(copy, change);
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

async function applyChange(copy: string, { path, from, after }: PathDifference): Promise<void> {
  const target = join(copy, path);
  if (from !== undefined) await rm(join(copy, from), { force: true });
  await rm(target, { force: true, recursive: true });
  if (after === null) return;
  await mkdir(dirname(target), { recursive: true });
  if (after.kind === 'link') return await symlink(after.target, target);
  await writeFile(target, after.bytes);
  if (after.executable) await chmod(target, 0o755);
}
