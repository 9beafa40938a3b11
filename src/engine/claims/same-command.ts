import {
  checksOf,
  CHECK_KINDS,
  isChecker,
  isInside,
  isRunner,
  isTaskWord,
  takesTask,
} from './check-kinds.ts';
import { baseName, type Segment } from './shell-lines.ts';

/** Whether a program that ran does what is spoken of. */
export type Match = 'no' | 'may' | 'is';

/** Whether a program that ran is the one that is named, or may have run it. */
export function mayBe(named: Segment, ran: Segment): Match {
  if (isSyntaxCheck(ran.words) && !isSyntaxCheck(named.words)) return 'no';
  const words = new Set(
    whatRan(ran.words).map((word, at) =>
      sameWord(at === 0 || /\.\w+$|\bbin\//.test(word) ? baseName(word) : word),
    ),
  );
  const { key, task } = whatItDoes(named);
  const isOther = isTargeted(ran) && !isTargeted(named) && task === '';
  // A checker that is pointed at a script does not run it.
  const isReading = /\.\w+$/.test(key[0] ?? '') && !runsScript(ran, key[0] ?? '');
  const isSame =
    !isOther &&
    !isReading &&
    key.every((word) => words.has(word)) &&
    named.words.every(isIn(ran.words));
  if (isSame || (!isOther && named.words.every((word) => ran.words.includes(word)))) return 'is';
  const [says, did] = [checksOf(named), checksOf(ran)];
  const program = baseName(named.words[0] ?? '');
  const other = baseName(ran.words[0] ?? '');
  // What is told by its target is no run of the default one.
  const isDefault = /^g?make$/.test(program) && program === other && whatItDoes(ran).task === '';
  if (isDefault || (isOther && program === other)) return 'no';
  if (did.isOpen && !isOneFile(ran)) return 'may';
  const isTask = program !== other && (isRunner(other) || isRunner(program));
  return isTask &&
    (!SPECIAL.test(task) || ran.words.some((word) => SPECIAL.test(word))) &&
    CHECK_KINDS.some((kind) => says.kinds.has(kind) && did.kinds.has(kind))
    ? 'may'
    : 'no';
}

function runsScript({ words }: Segment, script: string): boolean {
  const program = baseName(words[0] ?? '');
  return program === script || !isChecker(program);
}

/** Whether it is a run of `make` or the like for a target which is not the default one. */
function isTargeted({ words }: Segment): boolean {
  const target = whatItDoes({ words }).task;
  return (
    /^(?:g?make|just|rake|ninja|ant)$/.test(baseName(words[0] ?? '')) &&
    !/^(?:|all|default|build)$/.test(target)
  );
}

/** What an interpreter does with a script or a module: with `-c` it may only look at it. */
function whatRan(words: readonly string[]): readonly string[] {
  const program = baseName(words[0] ?? '');
  const module = words.indexOf('-m');
  if (module !== -1 && program.startsWith('python')) return words.slice(module + 1, module + 2);
  return isSyntaxCheck(words) ? words.slice(0, 1) : words;
}

function isSyntaxCheck(words: readonly string[]): boolean {
  const program = baseName(words[0] ?? '');
  return SYNTAX_CHECK.some(([name, option]) => name.test(program) && words.includes(option));
}

const SYNTAX_CHECK: readonly (readonly [RegExp, string])[] = [
  [/^(?:perl|ruby)$/, '-c'],
  [/^(?:ba|z|da)?sh$/, '-n'],
  [/^php$/, '-l'],
  [/^node$/, '--check'],
];

/** Tests of another kind than those that a plain run of tests is. */
const SPECIAL = /e2e|integration|smoke|regression|acceptance/;
/** Options that make another thing of a command. */
const CHANGES_ALL =
  /^(?:--?[\w-]*target=.+|--release|--write|--strict|--all-features|-race|--test)$/;

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
