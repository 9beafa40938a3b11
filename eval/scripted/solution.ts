import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EvalTask } from '../tasks.ts';

/** The change of one file by a solution. */
export interface FileChange {
  readonly path: string;
  /** The content before; null for a new file. */
  readonly before: string | null;
  readonly after: string;
  /** The lines of each hunk of the patch, with their signs. */
  readonly hunks: readonly (readonly string[])[];
}

/** Applies the solution of a task to a copy of its repository. Throws if it does not fit. */
export function applySolution(task: EvalTask, tree: string): void {
  const patch = join(task.directory, 'solution.patch');
  const { status, stderr } = spawnSync('git', ['apply', '--whitespace=nowarn', patch], {
    cwd: tree,
    // Without a ceiling, git would apply the patch relative to a repository above the copy.
    env: { PATH: process.env['PATH'], GIT_CEILING_DIRECTORIES: join(tree, '..') },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${patch} does not fit: ${stderr}`);
}

/** Reads the changes of a solution. Solutions change and add files of text; they delete none. */
export function readSolution(task: EvalTask): readonly FileChange[] {
  const original = join(task.directory, 'repo');
  const scratch = mkdtempSync(join(tmpdir(), 'muster-eval-solution-'));
  try {
    cpSync(original, scratch, { recursive: true });
    applySolution(task, scratch);
    const patch = readFileSync(join(task.directory, 'solution.patch'), 'utf8');
    return patch
      .split(/^diff --git .*\n/m)
      .slice(1)
      .map((part) => {
        const path = /^\+\+\+ b\/(.+)$/m.exec(part)?.[1];
        if (path === undefined) throw new Error(`${task.name}: the solution deletes a file`);
        const before = join(original, path);
        return {
          path,
          before: existsSync(before) ? readFileSync(before, 'utf8') : null,
          after: readFileSync(join(scratch, path), 'utf8'),
          hunks: part
            .split(/^@@ .*\n/m)
            .slice(1)
            .map((hunk) => hunk.split('\n').filter((line) => /^[-+ ]/.test(line))),
        };
      });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
