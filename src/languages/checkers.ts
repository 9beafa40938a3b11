import { readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { rejectOnAbort } from '../base/async.ts';
import { errorMessage } from '../base/errors.ts';
import { isInside } from '../base/path-inside.ts';
import { truncate } from '../base/text.ts';
import type { LanguageCall } from '../protocol/languages.ts';
import { MAX_DOCUMENT_BYTES } from './open-documents.ts';
import { parseCheckerOutput } from './parse-checker-output.ts';
import { findNewProblems, type CheckedText, type FileProblems, type Problem } from './problems.ts';
import type { FoundProblems } from './feedback.ts';
import { runProgram } from './run-program.ts';
import type { StartProgram } from './start-program.ts';

/** Files of prose, after whose changes no checker runs. */
const PROSE_ENDINGS: ReadonlySet<string> = new Set(['.md', '.markdown', '.rst', '.txt', '.adoc']);
/** The maximum number of files whose problems are compared. */
const MAX_COMPARED_FILES = 100;
const MAX_QUOTED_LENGTH = 400;

/** The outcome of one run of a checker. */
interface CheckerResult {
  readonly hasSucceeded: boolean;
  /** The problems by file, each with the content of the file at that time. */
  readonly files: ReadonlyMap<string, CheckedText>;
  /** The end of the output. */
  readonly tail: string;
}

/** The checkers before a change of files. */
export interface CheckersBefore {
  /** Runs the checkers after the change, and returns the problems that were not there before. Never rejects. */
  findNewProblems(): Promise<FoundProblems>;
}

/** A run of a checker, and the run after it, which all callers that come meanwhile share. */
interface CheckerRuns {
  current: Promise<unknown> | null;
  next: Promise<CheckerResult> | null;
  last: CheckerResult | null;
}

/** The parts with which checkers run. */
export interface CheckerParts {
  /** The command lines. */
  readonly commands: readonly string[];
  readonly start: StartProgram;
  readonly commandSeconds: number;
}

/** Tells whether checkers run after a change of this file. */
export function isCheckedByCommands(path: string): boolean {
  return !PROSE_ENDINGS.has(extname(path).toLowerCase());
}

/** The checker commands of the configuration. One of each runs at a time in a directory. */
export class Checkers {
  private readonly parts: CheckerParts;
  private readonly runs = new Map<string, CheckerRuns>();
  private readonly closing = new AbortController();
  private readonly running = new Set<Promise<unknown>>();

  constructor(parts: CheckerParts) {
    this.parts = parts;
  }

  get areConfigured(): boolean {
    return this.parts.commands.length > 0;
  }

  /** Notes that files have changed, so that the results so far do not describe the project any more. */
  noteChanges(): void {
    for (const runs of this.runs.values()) runs.last = null;
  }

  /** Ends all runs. */
  async close(): Promise<void> {
    this.closing.abort(new Error('Muster was closed'));
    await Promise.allSettled(this.running);
  }

  /** Runs the checkers that have not run yet, so that later problems can be compared. Never rejects. */
  async prepare(call: LanguageCall): Promise<CheckersBefore> {
    const before = await Promise.all(
      this.parts.commands.map(async (command) => ({
        command,
        result: this.runsOf(command, call).last ?? (await this.tryToRun(command, call)),
      })),
    );
    return {
      findNewProblems: async () => {
        const found = await Promise.all(
          before.map(({ command, result }) => this.compare(command, result, call)),
        );
        return {
          files: found.flatMap(({ files }) => files),
          notes: found.flatMap(({ notes }) => notes),
        };
      },
    };
  }

  /** Runs a checker before a change. Returns null if it fails: it will fail after the change, too, and be reported. */
  private async tryToRun(command: string, call: LanguageCall): Promise<CheckerResult | null> {
    try {
      return await this.run(command, call);
    } catch {
      return null;
    }
  }

  private async compare(
    command: string,
    before: CheckerResult | null,
    call: LanguageCall,
  ): Promise<FoundProblems> {
    try {
      const now = await this.run(command, call);
      if (before === null) return { files: [], notes: [] };
      const files = [...now.files].flatMap(([path, checked]): FileProblems[] => {
        const old = before.files.get(path) ?? { text: '', problems: [] };
        const problems = findNewProblems(old, checked);
        return problems.length === 0 ? [] : [{ path, source: command, problems }];
      });
      const failsNow = before.hasSucceeded && !now.hasSucceeded && now.files.size === 0;
      return { files, notes: failsNow ? [`${command} fails now: ${now.tail}`] : [] };
    } catch (thrown) {
      if (call.signal.aborted) return { files: [], notes: [] };
      const reason = errorMessage(thrown);
      return { files: [], notes: [`${command} did not check the change: ${reason}.`] };
    }
  }

  /** Runs a checker after the present run has ended. All callers that wait for that share the next run. */
  private async run(command: string, call: LanguageCall): Promise<CheckerResult> {
    const runs = this.runsOf(command, call);
    runs.next ??= this.startNext(runs, command, call);
    return await rejectOnAbort(runs.next, call.signal);
  }

  private async startNext(
    runs: CheckerRuns,
    command: string,
    call: LanguageCall,
  ): Promise<CheckerResult> {
    await runs.current?.catch(() => {});
    const work = this.execute(command, call);
    this.running.add(work);
    work.then(
      () => this.running.delete(work),
      () => this.running.delete(work),
    );
    runs.current = work;
    runs.next = null;
    runs.last = await work;
    return runs.last;
  }

  private async execute(command: string, call: LanguageCall): Promise<CheckerResult> {
    const observation = await call.observeChecker?.();
    try {
      return await this.runCommand(command, call);
    } finally {
      await observation?.end();
    }
  }

  private async runCommand(command: string, { cwd, roots }: LanguageCall): Promise<CheckerResult> {
    const { start, commandSeconds } = this.parts;
    const late = AbortSignal.timeout(commandSeconds * 1000);
    const stop = AbortSignal.any([late, this.closing.signal]);
    const argv = ['/bin/sh', '-c', `exec 2>&1; ${command}`] as const;
    try {
      const program = { argv, cwd: findRoot(cwd, roots), roots, access: 'workspace' } as const;
      const { hasSucceeded, stdout } = await runProgram(start, program, stop);
      return {
        hasSucceeded,
        files: groupByFile(parseCheckerOutput(stdout, program.cwd), roots),
        tail: truncate(stdout.trim().slice(-MAX_QUOTED_LENGTH), MAX_QUOTED_LENGTH),
      };
    } catch (thrown) {
      if (!late.aborted) throw thrown;
      throw new Error(`it did not end within code.command_seconds = ${commandSeconds}`, {
        cause: thrown,
      });
    }
  }

  private runsOf(command: string, { cwd, roots }: LanguageCall): CheckerRuns {
    const key = JSON.stringify([command, findRoot(cwd, roots)]);
    const known = this.runs.get(key);
    if (known !== undefined) return known;
    const created: CheckerRuns = { current: null, next: null, last: null };
    this.runs.set(key, created);
    return created;
  }
}

/** Returns the root in which a task works: the directory in which its checkers run. */
function findRoot(cwd: string, roots: readonly string[]): string {
  return roots.find((root) => isInside(root, cwd)) ?? cwd;
}

function groupByFile(
  problems: readonly (Problem & { readonly path: string })[],
  roots: readonly string[],
): ReadonlyMap<string, CheckedText> {
  const byFile = Map.groupBy(problems, ({ path }) => path);
  const inRoots = [...byFile].filter(([path]) => roots.some((root) => isInside(root, path)));
  return new Map(
    inRoots
      .slice(0, MAX_COMPARED_FILES)
      .map(([path, found]) => [path, { text: readText(path), problems: found }] as const),
  );
}

function readText(path: string): string {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= MAX_DOCUMENT_BYTES ? readFileSync(path, 'utf8') : '';
  } catch {
    // The checker named a file that cannot be read. Its problems are compared without the text of their lines.
    return '';
  }
}
