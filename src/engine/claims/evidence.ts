import { TOOL_NAMES } from '../../protocol/tool-names.ts';
import {
  checksOf,
  isInside,
  CHECK_KINDS,
  takesTask,
  isRunner,
  isTaskWord,
  looksOnly,
  type CheckKind,
} from './check-kinds.ts';
import { covers, effectOf, type Effect } from './command-effects.ts';
import type { ClaimFacts, ClaimRun } from './facts.ts';
import { isSameFile } from './file-names.ts';
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
        .map((named) => outcomeOf(runs, (ran) => mayBe(named, ran)));
      return (
        outcomes.find((outcome) => outcome === 'none') ??
        outcomes.find((outcome) => outcome === 'failed') ??
        'unsure'
      );
    }),
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
type Match = 'no' | 'may' | 'is';

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
  return isOpen ? 'may' : 'no';
}

/** Whether a program that ran is the one that is named, or may have run it. */
function mayBe(named: Segment, ran: Segment): Match {
  const words = new Set(
    whatRan(ran.words).map((word, at) =>
      sameWord(at === 0 || /\.\w+$/.test(word) ? baseName(word) : word),
    ),
  );
  const { key, task } = whatItDoes(named);
  const isSame = key.every((word) => words.has(word)) && named.words.every(isIn(ran.words));
  if (isSame || named.words.every((word) => ran.words.includes(word))) return 'is';
  const [says, did] = [checksOf(named), checksOf(ran)];
  if (did.isOpen && !isOneFile(ran)) return 'may';
  const program = baseName(named.words[0] ?? '');
  const other = baseName(ran.words[0] ?? '');
  const isTask =
    program !== other && (isRunner(program) || isRunner(other)) && !isForeign(program, other);
  return isTask &&
    (!SPECIAL.test(task) || ran.words.some((word) => SPECIAL.test(word))) &&
    CHECK_KINDS.some((kind) => says.kinds.has(kind) && did.kinds.has(kind))
    ? 'may'
    : 'no';
}

/** What an interpreter does with a script or a module: with `-c` it may only look at it. */
function whatRan(words: readonly string[]): readonly string[] {
  const program = baseName(words[0] ?? '');
  const module = words.indexOf('-m');
  if (module !== -1 && program.startsWith('python')) return words.slice(module + 1, module + 2);
  const isSyntaxCheck = SYNTAX_CHECK.some(
    ([name, option]) => name.test(program) && words.includes(option),
  );
  return isSyntaxCheck ? words.slice(0, 1) : words;
}

const SYNTAX_CHECK: readonly (readonly [RegExp, string])[] = [
  [/^(?:perl|ruby)$/, '-c'],
  [/^(?:ba|z|da)?sh$/, '-n'],
  [/^php$/, '-l'],
  [/^node$/, '--check'],
];

/** Whether neither runs what the other does: they are of different languages. */
function isForeign(one: string, other: string): boolean {
  return SCRIPTED.test(one) ? COMPILED.test(other) : COMPILED.test(one) && SCRIPTED.test(other);
}

const SCRIPTED = /^(?:npm|pnpm|yarn|composer|rake|rails)$/;
const COMPILED = /^(?:cargo|go|mvnw?|gradlew?|dotnet|swift|pytest|phpunit|mix)$/;

/** Tests of another kind than those that a plain run of tests is. */
const SPECIAL = /e2e|integration|smoke|regression|acceptance/;
/** Options that make another thing of a command. */
const CHANGES_ALL = /^(?:--?[\w-]*target=.+|--release|--write)$/;

function isIn(words: readonly string[]): (word: string) => boolean {
  return (word) => !CHANGES_ALL.test(word) || words.includes(word);
}

/** Whether an interpreter runs a script of its language: that is no checker, nor runs one. */
function isOneFile({ words }: Segment): boolean {
  return (
    /^(?:python[\d.]*|node|ruby|php|perl|lua|Rscript|tsx|ts-node)$/.test(
      baseName(words[0] ?? ''),
    ) || whatRan(words).length < words.length
  );
}

/** `npm i` is `npm install`. */
function sameWord(word: string): string {
  return /^(?:i|add|ci)$/.test(word)
    ? 'install'
    : word.replace(/^(python)[\d.]+$|^(gradle|mvn)w$/, '$1$2').replace(/^:(?:[\w-]+:)*/, '');
}

/** Their next word is a value. */
const TAKES_VALUE =
  /^(?:--filter|--prefix|--cwd|--dir|--workspace|--package|--project|--directory|-[CFpwfj])$/;

/** The program and what it is told to do, without options and the names of things. */
function whatItDoes({ words }: Pick<Segment, 'words'>): {
  readonly key: readonly string[];
  readonly task: string;
} {
  const [first = '', ...rest] = [baseName(words[0] ?? ''), ...words.slice(1)];
  const module = rest.indexOf('-m');
  if (module !== -1) return { key: rest.slice(module + 1, module + 2), task: '' };
  const isPlainRun = !isInside(first);
  const told = rest.filter(
    (word, at) =>
      !/^(?:-[^-].*|--.+)$/.test(word) &&
      !(isPlainRun && /^(?:run|exec)$/.test(word)) &&
      !TAKES_VALUE.test(rest[at - 1] ?? ''),
  );
  const script = told.findIndex((word) => /^[\w/.-]+\.(?:py|rb|php|[cm]?[jt]s|sh)$/.test(word));
  if (/^(?:python[\d.]*|node|ruby|php|bash|sh|tsx)$/.test(first) && script !== -1) {
    return whatItDoes({ words: told.slice(script) });
  }
  const task = sameWord(told[0] ?? '');
  const hasTask = takesTask(first) && /^[a-z][\w-]*(?::[\w-]+)*$/.test(task);
  if (!hasTask) return { key: [sameWord(first)], task: '' };
  const end = told.indexOf('--');
  const tasks = told.slice(1, end === -1 ? 5 : end).filter(isTaskWord);
  return { key: [sameWord(first), task, ...tasks], task };
}
