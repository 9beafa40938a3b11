import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { MomentKind } from './kill-plan.ts';

/** The engine with one of its rules broken. */
export interface Mutation {
  /** The rule that does not hold any more. */
  readonly name: string;
  readonly file: string;
  /** Stands in the file once. */
  readonly rule: string;
  readonly instead: string;
  /** The moments that show it. */
  readonly kinds: readonly MomentKind[];
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a result is delivered once',
    file: 'src/engine/delegation/deliver-end.ts',
    rule: 'parent.journal.record(...queued, ended);',
    instead: `parent.journal.record(...queued, ended);
  if (notice !== null) {
    const again = { ...notice, id: 'again-' + notice.id };
    parent.journal.record({ type: 'input.queued', input: again });
  }`,
    kinds: ['line'],
  },
  {
    name: 'what TaskOutput told is not told again',
    file: 'src/engine/calls/execute-call.ts',
    rule: '...(told.length === 0 ? [] :',
    instead: '...(told.length >= 0 ? [] :',
    kinds: ['line'],
  },
  {
    name: 'a call without an outcome is not run again',
    file: 'src/engine/calls/calls.ts',
    rule: 'if (unknown !== undefined && !mayRunAgain(call)) {',
    instead: 'if (unknown === null && !mayRunAgain(call)) {',
    kinds: ['effect'],
  },
  {
    name: 'a Task call that is run again finds its child',
    file: 'src/engine/delegation/delegation.ts',
    rule: 'if (announced !== null && !isLeftUndone(workshop, call, announced)) return announced;',
    instead: 'isLeftUndone;',
    kinds: ['effect'],
  },
  {
    name: 'a request that was begun is sent again as it was',
    file: 'src/engine/turn/request.ts',
    rule: 'if (state.openTurn === null) {',
    instead: 'if (state.openTurn !== undefined) {',
    kinds: ['time', 'request'],
  },
  {
    name: 'what a dead owner left running is ended',
    file: 'src/engine/delegation/resume-task.ts',
    rule: 'await endMarkedProcesses(TASK_VARIABLE, ids);',
    instead: 'await Promise.resolve([endMarkedProcesses, TASK_VARIABLE, ids]);',
    kinds: ['effect'],
  },
];

export interface Mutant extends Disposable {
  readonly bin: string;
}

const ROOT = resolve(import.meta.dirname, '../..');

/** Builds the program with that rule broken, in a directory of its own. Throws when it isn't there. */
export async function buildMutant({ file, rule, instead }: Mutation): Promise<Mutant> {
  const place = mkdtempSync(join(tmpdir(), 'muster-mutant-'));
  const remove = (): void => rmSync(place, { recursive: true, force: true });
  try {
    for (const part of ['src', 'scripts', 'package.json', 'tsconfig.json']) {
      cpSync(join(ROOT, part), join(place, part), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(place, 'node_modules'));
    const source = readFileSync(join(place, file), 'utf8');
    const [before = '', after, ...more] = source.split(rule);
    if (after === undefined || more.length > 0) {
      throw new Error(`${file} does not hold this once: ${rule}`);
    }
    writeFileSync(join(place, file), `${before}${instead}${after}`);
    const build = [join(place, 'scripts/build.ts'), '--no-types'];
    await promisify(execFile)(process.execPath, build, { cwd: place });
    return { bin: join(place, 'dist/muster.js'), [Symbol.dispose]: remove };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}
