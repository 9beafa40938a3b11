import { readFile } from 'node:fs/promises';
import type { ContentChange } from '../../protocol/languages.ts';
import type { FileChange, ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { hashContent } from '../../sys/files/read-file.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';

/** Adds the problems that a call has caused to its result. */
export interface EditFeedback {
  /** Returns the context for the tool, from which the contents of files before the call are learned. */
  watch(context: ToolContext): ToolContext;
  /** Returns the output with the new problems in the changed files. */
  addProblems(output: ToolOutput): Promise<ToolOutput>;
}

/** Creates the feedback for one call that may change files. */
export function createEditFeedback(
  { languages }: Pick<EngineDeps, 'languages'>,
  run: Pick<TaskRun, 'spec' | 'permissions'>,
  signal: AbortSignal,
): EditFeedback | null {
  if (languages === undefined) return null;
  const former = new Map<string, Buffer>();
  return {
    watch: (context) => ({
      ...context,
      keepFormer: async (bytes) => {
        former.set(hashContent(bytes), bytes);
        await context.keepFormer?.(bytes);
      },
    }),
    async addProblems(output) {
      const changes = await readChanges(output.facts?.changed ?? [], former);
      if (changes.length === 0 || signal.aborted) return output;
      const { cwd } = run.spec;
      const { roots } = run.permissions.rights;
      const { problems, notes } = await (
        await languages()
      ).findNewProblems(changes, { cwd, roots, signal });
      const text = [output.text, problems, ...notes].filter((part) => part !== '').join('\n');
      return problems === '' && notes.length === 0
        ? output
        : { ...output, text, hasOutsideText: true };
    },
  };
}

/** Reads the contents of changed files. Leaves out binary files, and files whose former content is not known. */
async function readChanges(
  changed: readonly FileChange[],
  former: ReadonlyMap<string, Buffer>,
): Promise<readonly ContentChange[]> {
  const changes = await Promise.all(
    changed.map(async ({ path, before, after }): Promise<readonly ContentChange[]> => {
      const old = before === null ? null : former.get(before);
      if (old === undefined) return [];
      const now = after === null ? null : await readContent(path, after);
      if (now === undefined || isBinary(old) || isBinary(now)) return [];
      return [{ path, before: old?.toString() ?? null, after: now?.toString() ?? null }];
    }),
  );
  return changes.flat();
}

/** Reads a file. Returns undefined if it has been changed since the call. */
async function readContent(path: string, hash: string): Promise<Buffer | undefined> {
  try {
    const bytes = await readFile(path);
    return hashContent(bytes) === hash ? bytes : undefined;
  } catch {
    // The file is gone or cannot be read any more, so there is nothing to check.
    return undefined;
  }
}

function isBinary(bytes: Buffer | null): boolean {
  return bytes?.includes(0) === true;
}
