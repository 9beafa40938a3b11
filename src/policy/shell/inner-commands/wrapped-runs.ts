import { lazy } from '../../../base/lazy.ts';
import {
  canExpandToSeveralWords,
  countOptionWords,
  parseOptionTable,
} from '../options/option-table.ts';
import { findSubcommandEnds } from '../options/subcommand-position.ts';
import { createLiteralWord, type ShellParser, type ShellWord } from '../parsed-line.ts';
import {
  canBeOption,
  createCommand,
  createHiddenRun,
  createOpenRun,
  parseScriptRun,
  type InnerRun,
} from './inner-run.ts';
import { COMMAND_WRAPPERS, type CommandWrapper } from './wrappers.ts';

/** The wrappers of each program and its subcommands. `path` is the program, followed by the subcommand. */
const WRAPPERS_BY_PROGRAM = lazy(() =>
  Map.groupBy(
    [...COMMAND_WRAPPERS].map(([name, wrapper]) => ({ path: name.split(' '), wrapper })),
    ({ path }) => path[0] ?? '',
  ),
);

export function isWrapper(program: string): boolean {
  return WRAPPERS_BY_PROGRAM().has(program);
}

/** The maximum number of readings of a line that are examined. No real command line has more. */
const MAX_ENDS = 20;

/** The maximum number of words in which a text for a shell is searched for. No real command line has more. */
const MAX_SCRIPTS = 50;

/** Finds the commands that a wrapper runs because of the words after it. */
export function findWrappedRuns(
  program: string,
  words: readonly ShellWord[],
  parser: ShellParser,
): readonly InnerRun[] {
  return (WRAPPERS_BY_PROGRAM().get(program) ?? []).flatMap(({ path, wrapper }) => {
    const { ends, isSure } = findSubcommandEnds(program, words, path.slice(1));
    if (ends.length > MAX_ENDS) return [createHiddenRun(0)];
    return ends.flatMap((end) => {
      const runs = findWrappedCommand(wrapper, words.slice(end), parser);
      const moved = runs.map((run) => moveRun(run, end, isSure));
      return isSure ? moved : moved.concat(createOpenRun(end - 1));
    });
  });
}

function moveRun(run: InnerRun, by: number, isSure: boolean): InnerRun {
  const { index, commands, visible, tail } = run;
  return {
    index: index + by,
    commands,
    visible: isSure || visible === 'none' ? visible : 'some',
    ...(tail === undefined ? {} : { tail: tail + by }),
  };
}

/** Finds the wrapped command, or every command that it could be if an option is unknown. */
function findWrappedCommand(
  wrapper: CommandWrapper,
  words: readonly ShellWord[],
  parser: ShellParser,
): readonly InnerRun[] {
  const { isOpenEnded = false, isScript = false } = wrapper;
  const start = findCommandStart(wrapper, words);
  if (start === undefined) {
    const unknownOperand = findUnknownOperand(wrapper, words);
    const possible = words.flatMap((_, index) =>
      index === unknownOperand ? [] : [createCommand(words.slice(index), isOpenEnded)],
    );
    const named = words.flatMap((_, at) => findScript(wrapper, words, { at, parser }) ?? []);
    const joined = isScript ? listPossibleScripts(words, parser) : [];
    return [createOpenRun(words.length - 1, possible), ...named, ...joined];
  }
  const { at, hasAssignments } = start;
  const script = findScript(wrapper, words, { at, parser });
  if (script !== undefined) return [script];
  const rest = words.slice(at);
  const [first] = rest;
  if (first === undefined) return [];
  const isOneProgram = rest.length === 1 && /^[\w./+-]+$/.test(first.value ?? '');
  if (isScript && !isOneProgram) {
    return [parseScriptRun(at, rest, parser)];
  }
  const command = { words: rest, hasAssignments, isOpenEnded };
  return [{ index: at, tail: at, commands: [command], visible: hasAssignments ? 'some' : 'all' }];
}

/** Creates a run for each word at which the text for a shell could start. */
function listPossibleScripts(
  words: readonly ShellWord[],
  parser: ShellParser,
): readonly InnerRun[] {
  if (words.length > MAX_SCRIPTS) return [createHiddenRun(words.length)];
  return words.flatMap(({ value }, at) =>
    value === null ? [] : [parseScriptRun(at, words.slice(at), parser)],
  );
}

/** Finds the text for a shell in the option at this index. */
function findScript(
  { scriptOptions = [] }: CommandWrapper,
  words: readonly ShellWord[],
  { at, parser }: { readonly at: number; readonly parser: ShellParser },
): InnerRun | undefined {
  const value = words[at]?.value;
  if (value === undefined || value === null) return undefined;
  if (scriptOptions.includes(value)) return parseScriptRun(at, [words[at + 1]], parser);
  const name = scriptOptions.find((each) => value.startsWith(`${each}=`));
  if (name === undefined) return undefined;
  return parseScriptRun(at, [createLiteralWord(value.slice(name.length + 1))], parser);
}

/**
 * Finds the index at which the command starts, and whether variables are set for the command. Returns undefined if the
 * index is not certain.
 */
function findCommandStart(
  wrapper: CommandWrapper,
  words: readonly ShellWord[],
): { readonly at: number; readonly hasAssignments: boolean } | undefined {
  const { operands = 0, optionsBehindOperands = false } = wrapper;
  const optionsEnd = findOptionsEnd(wrapper, words, 0);
  if (optionsEnd === undefined) return undefined;
  const operandsEnd = optionsEnd + operands;
  if (words.slice(optionsEnd, operandsEnd).some(canExpandToSeveralWords)) return undefined;
  const afterOperands = operandsEnd + (words[operandsEnd]?.value === '--' ? 1 : 0);
  const start = optionsBehindOperands
    ? findOptionsEnd(wrapper, words, afterOperands)
    : afterOperands;
  if (start === undefined) return undefined;
  let at = start;
  for (let word = words[at]; word !== undefined && isAssignment(word); word = words[at]) at += 1;
  return { at, hasAssignments: at > start };
}

/**
 * Finds the index of an operand of the wrapper whose value is unknown, as in `timeout "$T" npm test`; -1 if there is
 * none.
 */
function findUnknownOperand(wrapper: CommandWrapper, words: readonly ShellWord[]): number {
  const at = words.findIndex(({ value }) => value === null);
  const isOwn = wrapper.operands !== undefined && words[at]?.form === 'text';
  return isOwn && findOptionsEnd(wrapper, words.slice(0, at), 0) === at ? at : -1;
}

/**
 * Finds the index of the first word that is not an option, or of an option with a text for a shell. Returns undefined
 * if the index is not certain.
 */
function findOptionsEnd(
  wrapper: CommandWrapper,
  words: readonly ShellWord[],
  from: number,
): number | undefined {
  const table = parseOptionTable(wrapper.options);
  let at = from;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const { value } = word;
    if (value === null) return (wrapper.operands ?? 0) > 0 && !canBeOption(word) ? at : undefined;
    if (value === '--' || (value === '-' && wrapper.dashIsOption === true)) return at + 1;
    if (wrapper.scriptOptions?.some((name) => value.split('=')[0] === name) === true) return at;
    const taken = countOptionWords(value, table);
    if (taken === undefined) return undefined;
    if (taken === 0) return at;
    const next = words[at + 1];
    if (taken === 2 && next !== undefined && canExpandToSeveralWords(next)) return undefined;
    at += taken;
  }
  return at;
}

function isAssignment({ value, text }: ShellWord): boolean {
  return /^[A-Za-z_]\w*=/.test(value ?? text);
}
