import { TOOL_NAMES } from '../../protocol/tool-names.ts';
import { checksOf, isProgram, looksOnly, type CheckKind } from './check-kinds.ts';
import { covers, effectOf, type Effect } from './command-effects.ts';
import { mayDo, type GitAct } from './git-acts.ts';
import type { ClaimFacts, ClaimRun } from './facts.ts';
import { isSameFile } from './file-names.ts';
import { mayBe, type Match } from './same-command.ts';
import { baseName, segmentsOf, type Segment } from './shell-lines.ts';

/** What the receipt has against a claim. `unsure`: nothing. */
export type Outcome = 'none' | 'failed' | 'unsure';

/** What the receipt of a task says cannot be true of it. */
export interface Evidence {
  /** Whether a file, as an answer names it, certainly was not changed. */
  isUntouched(file: string): boolean;
  /** Whether it is among those that are known to have been changed. */
  isChanged(file: string): boolean;
  isRead(file: string): boolean;
  check(kind: CheckKind): Outcome;
  /** Of a command as an answer names it. */
  command(line: string): Outcome;
  /** Of an act of version control. */
  act(act: GitAct): Outcome;
  /** No command ran that does more than look. */
  readonly ranNothing: boolean;
  /** Programs that ran. */
  readonly programs: ReadonlySet<string>;
  /** No file was changed, and no command ran that can have changed one. */
  readonly changedNothing: boolean;
  /** Nothing was done at all. */
  readonly usedNoTool: boolean;
}

/** Tools whose receipts are whole. Of others, such as those of MCP servers, nobody knows what they do. */
const KNOWN_TOOLS: ReadonlySet<string> = new Set(TOOL_NAMES);
/** Muster's own notes, and what only talks. */
const TALKS = /^(?:TodoWrite|Notify|CurrentTime|Sleep|AskUser)$/;
/** Change something which is no file. */
const ELSEWHERE = /^(?:Memory(?:Write|Patch|Append|Delete)|Board|HttpRequest|SetEnv)$/;

/** The exit code of a program that is not there. */
const NOT_FOUND = 127;

/** null: the receipt does not have all that was done, and can contradict nothing. */
export function evidenceOf(facts: ClaimFacts): Evidence | null {
  const { cwd, changed, tools, hasGaps } = facts;
  if (hasGaps || [...tools].some((tool) => !KNOWN_TOOLS.has(tool))) return null;
  const runs = facts.runs.map((group) =>
    group.map(({ command, exitCode }) => ({
      segments: segmentsOf(command),
      hasFailed: hasFailed(command, exitCode),
      isMissing: exitCode === NOT_FOUND && !/[;&|\n]/.test(command),
    })),
  );
  const segments = runs.flat().flatMap((run) => (run.isMissing ? [] : run.segments));
  const effects: Effect[] = segments.map(effectOf);
  if ([...tools].some((tool) => ELSEWHERE.test(tool))) effects.push('anything');
  const paths = changed.map((path) => (path.startsWith(`${cwd}/`) ? path.slice(cwd.length) : path));
  const isChanged = remembered((file: string) => {
    const inside = [`${cwd}/`, `${baseName(cwd)}/`].find((root) => file.startsWith(root)) ?? '';
    return paths.some((path) => isSameFile(file.slice(inside.length), path));
  });
  const isUntouched = remembered(
    (file: string) => !isChanged(file) && !effects.some((effect) => covers(effect, file)),
  );
  return {
    isUntouched,
    isChanged,
    isRead: (file) => facts.read.some((path) => isSameFile(file, path)),
    check: remembered((kind) => outcomeOf(runs, (segment) => mayCheck(segment, kind))),
    command: remembered((line) => {
      const outcomes = segmentsOf(line)
        .filter((named) => !looksOnly(named))
        .map((named) => {
          const isWhole = (ran: Segment) =>
            mayBe(named, ran) === 'is' && named.words.every((word) => ran.words.includes(word));
          const ranWhole = named.words.length > 1 && segments.some(isWhole);
          return outcomeOf(runs, (ran) =>
            ranWhole ? (isWhole(ran) ? 'is' : 'no') : mayBe(named, ran),
          );
        });
      return (
        outcomes.find((outcome) => outcome === 'none') ??
        outcomes.find((outcome) => outcome === 'failed') ??
        'unsure'
      );
    }),
    act: remembered((act) => outcomeOf(runs, (segment) => mayDo(segment, act))),
    ranNothing: segments.every(looksOnly),
    programs: new Set(segments.map(({ words }) => baseName(words[0] ?? ''))),
    changedNothing:
      changed.length === 0 &&
      segments.every((segment) => looksOnly(segment) || effectOf(segment) === 'artifacts') &&
      !effects.includes('anything'),
    usedNoTool: [...tools].every((tool) => TALKS.test(tool)),
  };
}

/** What serves or watches until it is stopped has not failed then. */
function hasFailed(command: string, exitCode: ClaimRun['exitCode']): boolean {
  if (exitCode === 'unknown' || exitCode === 0) return false;
  const isStopped = exitCode === 'killed' || [124, 130, 137, 143].includes(exitCode);
  return !(
    isStopped &&
    /\b(?:dev|serve|server|runserver|start|watch|preview|up|tail|timeout)\b/.test(command)
  );
}

function remembered<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, { readonly value: Value }>();
  return (key) => {
    const found = known.get(key) ?? { value: compute(key) };
    known.set(key, found);
    return found.value;
  };
}

interface Run {
  readonly segments: readonly Segment[];
  readonly hasFailed: boolean;
}

/** Between tasks there is no order: one whose last run may have come out well is enough. */
function outcomeOf(
  groups: readonly (readonly Run[])[],
  match: (segment: Segment) => Match,
): Outcome {
  const isExact = ({ segments }: Run) => segments.some((segment) => match(segment) === 'is');
  const exact = groups.filter((group) => group.some(isExact));
  const last = new Set(
    (exact.length > 0 ? exact : groups).map((group) =>
      group.map((run) => outcomeOfRun(run, match)).findLast((each) => each !== 'none'),
    ),
  );
  if (last.has('unsure')) return 'unsure';
  return last.has('failed') ? 'failed' : 'none';
}

/** The exit code is that of the last program; in a chain of `&&` none of them is known to have passed. */
function outcomeOfRun({ segments, hasFailed }: Run, match: (segment: Segment) => Match): Outcome {
  const matches = segments.map(match);
  if (matches.every((each) => each === 'no')) return 'none';
  const joint = segments.at(-1)?.joint ?? '';
  return hasFailed && matches.at(-1) === 'is' && joint !== '|' && joint !== '||'
    ? 'failed'
    : 'unsure';
}

function mayCheck(segment: Segment, kind: CheckKind): Match {
  const { kinds, isOpen } = checksOf(segment);
  if (kinds.has(kind)) return 'is';
  const isUnknown = kinds.size === 0 && !isProgram(segment.words[0] ?? '');
  return isOpen || isUnknown ? 'may' : 'no';
}
