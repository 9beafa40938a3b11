import { resolve } from 'node:path';
import { toAbsolutePath } from '../../../../sys/files/paths.ts';
import { commandsUnder, type Command, commandFlags, findCommand } from '../../command.ts';
import { flagSpec, type FlagName, flagValues } from '../../flags.ts';
import { type Scan, findFlag, scanArguments } from '../../scan.ts';
import type { Paths, CompletionValues } from '../../completion-values.ts';
import type { Candidate, CompletionLocation } from './values.ts';
import { promptCommand } from '../prompt.ts';
import { takesPrompt } from '../../parse.ts';

/** The texts that could replace the word at the cursor. */
export interface Offer {
  /** The part of the word that stays, such as `--model=`. */
  readonly prefix: string;
  readonly candidates: readonly Candidate[];
  /** The kind of paths that are possible, too; the shell lists them itself. */
  readonly paths: Paths | null;
}

/** The maximum number of offered candidates. Nobody reads a longer list: people type more of the word instead. */
const MAX_CANDIDATES = 200;

interface OfferOptions {
  readonly commands: readonly Command[];
  /** `by shell`: the shell filters the candidates itself, unless there are too many. */
  readonly matching: 'prefix' | 'by shell';
}

/**
 * Collects the candidates for the word at the cursor. `words` are the words between the program's name and the cursor;
 * the last word may be empty.
 */
export async function completionOffer(
  words: readonly string[],
  { commands, matching }: OfferOptions,
): Promise<Offer> {
  const word = wordAtCursor(words, commands);
  const { wanted, prefix, typed } = word;
  const all = plainAndUnique(await allCandidates(word, commands));
  const isMatch =
    matching === 'prefix'
      ? (text: string) => text.startsWith(typed)
      : (text: string) => text.toLowerCase().startsWith(typed.toLowerCase());
  const isFilteredByShell = matching === 'by shell' && all.length <= MAX_CANDIDATES;
  const candidates = isFilteredByShell ? all : all.filter(({ text }) => isMatch(text));
  return {
    prefix,
    candidates: candidates.slice(0, MAX_CANDIDATES),
    paths: (wanted.kind === 'value' ? wanted.source.paths : undefined) ?? null,
  };
}

async function allCandidates(
  { wanted, scan }: WordAtCursor,
  commands: readonly Command[],
): Promise<readonly Candidate[]> {
  switch (wanted.kind) {
    case 'command word':
      return commandWords(wanted.after, commands);
    case 'flag':
      return wanted.flags.map((name) => flagCandidate(name, wanted.command));
    case 'value': {
      const { words = [], found } = wanted.source;
      const listed = words.map((text) => ({ text, about: '' }));
      if (found === undefined) return listed;
      const { readCompletionValues } = await import('./values.ts');
      return [...listed, ...(await readCompletionValues(found, readLocation(scan)))];
    }
    default:
      return wanted satisfies never;
  }
}

/** Returns the words that may follow. A word that begins several commands is explained by the next words of these commands. */
function commandWords(
  after: readonly string[],
  commands: readonly Command[],
): readonly Candidate[] {
  const following = commandsUnder(commands, after).map(({ words, summary }) => ({
    words: words.split(' '),
    summary,
  }));
  const byNext = Map.groupBy(following, ({ words }) => words[after.length] ?? '');
  return [...byNext].map(([text, found]) => ({
    text,
    about: found.map(({ words, summary }) => words[after.length + 1] ?? summary).join(', '),
  }));
}

function flagCandidate(name: FlagName, { flagDetails }: Command): Candidate {
  return { text: `--${name}`, about: flagDetails?.[name]?.help ?? flagSpec(name).help };
}

function readLocation({ flags }: Scan): CompletionLocation {
  const directory = (name: FlagName): string | null => {
    const given = flags.get(name)?.at(-1) ?? '';
    return given === '' ? null : toAbsolutePath(given, resolve('.'));
  };
  const dataDir = directory('data-dir');
  return {
    cwd: directory('cwd') ?? resolve('.'),
    trustProject: flags.has('trust-project'),
    ...(dataDir === null ? {} : { dataDir }),
  };
}

function plainAndUnique(candidates: readonly Candidate[]): readonly Candidate[] {
  const plain = candidates.filter(({ text }) => isPlainWord(text));
  return [...new Map(plain.toReversed().map((each) => [each.text, each])).values()].toReversed();
}

/** Whether a text means itself in every shell: a name from somebody's file must not be evaluated. */
export function isPlainWord(text: string): boolean {
  return /^(?:--)?[\p{L}\p{N}_][\p{L}\p{N}_%+=:,./-]*$/u.test(text);
}

/** The last word of an unfinished command line. */
interface WordAtCursor {
  /** The part that stays, such as `--model=`. */
  readonly prefix: string;
  /** The part that is completed. */
  readonly typed: string;
  readonly wanted: Wanted;
  /** The arguments before the word. */
  readonly scan: Scan;
}

type Wanted =
  | { readonly kind: 'value'; readonly source: CompletionValues }
  /** The next word of a command whose first words are `after`. */
  | { readonly kind: 'command word'; readonly after: readonly string[] }
  | { readonly kind: 'flag'; readonly command: Command; readonly flags: readonly FlagName[] };

/** Finds out what the last of the words can become. The last word may be empty. */
function wordAtCursor(words: readonly string[], commands: readonly Command[]): WordAtCursor {
  const typed = words.at(-1) ?? '';
  const scan = scanArguments(words.slice(0, -1));
  const complete = (wanted: Wanted): WordAtCursor => ({ prefix: '', typed, wanted, scan });
  if (scan.unknown !== undefined) return complete(value({}));
  const found = scan.flags.has('print') ? undefined : findCommand(commands, scan.words);
  const command = found?.command ?? promptCommand;
  if (scan.incomplete !== undefined) return complete(flagValue(scan.incomplete, command));
  if (typed.startsWith('-') && scan.flagsEnded !== true) {
    const equals = typed.startsWith('--') ? typed.indexOf('=') : -1;
    if (equals === -1) {
      // After `tasks` there is no command yet, and no prompt either.
      const isPart =
        found === undefined && !scan.flags.has('print') && isCommandPart(scan, commands);
      return complete({ kind: 'flag', command, flags: isPart ? ['help'] : commandFlags(command) });
    }
    const prefix = typed.slice(0, equals + 1);
    const wanted = flagValue(typed.slice(0, equals), command);
    return { prefix, typed: typed.slice(equals + 1), wanted, scan };
  }
  const before = words.at(-2) ?? '';
  if (scan.flagsEnded !== true && hasOptionalChoice(before)) {
    return complete(flagValue(before, command));
  }
  if (found === undefined) {
    const isPrompt = takesPrompt(scan);
    return complete(isPrompt ? value({}) : { kind: 'command word', after: scan.words });
  }
  const { operands } = found;
  if (command.words === 'help') return complete({ kind: 'command word', after: operands });
  return complete(value(operandValues(command, operands.length, scan)));
}

/** Whether a word is a flag whose value may be left out and can be completed. */
function hasOptionalChoice(word: string): boolean {
  const name = findFlag(word);
  if (name === undefined) return false;
  const { hasOptionalValue = false, completes } = flagSpec(name);
  return hasOptionalValue && completes !== undefined;
}

function isCommandPart({ words }: Scan, commands: readonly Command[]): boolean {
  return words.length > 0 && commandsUnder(commands, words).length > 0;
}

function value(source: CompletionValues): Wanted {
  return { kind: 'value', source };
}

function flagValue(spelling: string, command: Command): Wanted {
  const name = findFlag(spelling);
  if (name === undefined) return value({});
  return value(flagValues({ ...flagSpec(name), ...command.flagDetails?.[name] }) ?? {});
}

/** Returns the values of an operand, counted from 0; the last operand may be repeated. */
function operandValues({ operands }: Command, index: number, { flags }: Scan): CompletionValues {
  const last = operands.at(-1);
  const operand = operands[index] ?? (last?.name.includes('…') === true ? last : undefined);
  const special = Object.entries(operand?.completesWith ?? {}).find(([name]) =>
    [...flags.keys()].some((given) => given === name),
  );
  return special?.[1] ?? operand?.completes ?? {};
}
