import { errorMessage } from '../../base/errors.ts';
import type { Decision } from '../../protocol/permission.ts';
import type { ChangePort, CommandChanges, FileChange, FileMemory } from '../../protocol/tool.ts';
import type { PathChange } from '../../sys/files/changes/path-change.ts';
import type { ObservedChanges } from '../../sys/files/changes/workspace-changes.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';

/** The maximum number of changed files that one event lists. The others are counted for each root. */
const MAX_LISTED = 1_000;

/** Creates the port through which the commands of a task are observed. */
export function createChangePort(
  { changes, store }: Pick<EngineDeps, 'changes' | 'store'>,
  run: Pick<TaskRun, 'permissions' | 'files'>,
  decision: Decision | undefined,
): ChangePort {
  const { roots, mode } = run.permissions.rights;
  // In a sandbox such a command can change nothing, so its changes need not be found.
  const isReadOnly = mode === 'plan' || decision?.confinement === 'read-only';
  const prepare = async (): Promise<void> => {
    const workspace = await changes?.();
    await workspace?.prepare(roots);
  };
  return {
    prepare: () => {
      // A failure is reported by `begin`.
      if (!isReadOnly) prepare().catch(() => {});
    },
    begin: async ({ inBackground }) => {
      const workspace = await changes?.();
      if (workspace === undefined) throw new Error('the changes of commands are not recorded');
      try {
        const observation = await workspace.begin(roots, (bytes) => store.putBackup(bytes));
        const end = async (): Promise<CommandChanges> => {
          const observed = await observation.end();
          stampVersions(observed, run.files);
          return toCommandChanges(observed, { roots, inBackground });
        };
        return {
          ...observation,
          end: () => end().catch((thrown) => unknownChanges(roots, thrown)),
        };
      } catch (thrown) {
        const end = () => Promise.resolve(unknownChanges(roots, thrown));
        return { checkpoint: () => Promise.resolve(), end, cancel: () => {} };
      }
    },
  };
}

/** Describes that changes could not be found. The command itself has run, and its outcome is known. */
function unknownChanges(roots: readonly string[], thrown: unknown): CommandChanges {
  const detail = `they could not be found: ${errorMessage(thrown)}`;
  return { changed: [], unlisted: roots.map((path) => ({ path, reason: 'untracked', detail })) };
}

/** Records which files have a version of this task now, so that its siblings notice it. */
function stampVersions({ changes }: ObservedChanges, files: FileMemory): void {
  for (const { path, after } of changes) {
    if (after === null) files.willRemove(path);
    else files.willWrite(path, after.hash);
  }
}

/** Describes changes for the log. */
function toCommandChanges(
  { changes, unlisted }: ObservedChanges,
  { roots, inBackground }: { readonly roots: readonly string[]; readonly inBackground: boolean },
): CommandChanges {
  const rest = changes.length - MAX_LISTED;
  const [root = '/'] = roots;
  return {
    changed: changes.slice(0, MAX_LISTED).map((change) => toFileChange(change, { inBackground })),
    unlisted: rest > 0 ? [...unlisted, { path: root, reason: 'limit', count: rest }] : unlisted,
  };
}

function toFileChange(
  { path, before, after, shared, since, until }: PathChange,
  { inBackground }: { readonly inBackground: boolean },
): FileChange {
  const isModeChange = before !== null && after !== null && before.mode !== after.mode;
  return {
    path,
    before: before?.hash ?? null,
    after: after?.hash ?? null,
    ...(before !== null && (after === null || isModeChange) ? { mode: before.mode } : {}),
    ...(isModeChange ? { newMode: after.mode } : {}),
    byCommand: true,
    ...(shared ? { shared: true } : {}),
    ...(shared || inBackground ? { since, until } : {}),
  };
}
