import { resolve } from 'node:path';
import { toAbsolutePath } from '../../../../sys/files/paths.ts';
import { commandsUnder, type Command } from '../../command.ts';
import { flagSpec, type FlagName } from '../../flags.ts';
import type { Scan } from '../../scan.ts';
import type { Paths } from '../../completion-values.ts';
import type { Candidate, CompletionPlace } from './values.ts';
import { wordAtCursor, type WordAtCursor } from './word-at-cursor.ts';

/** The texts that could replace the word at the cursor. */
export interface Offer {
  /** The part of the word that stays, such as `--model=`. */
  readonly prefix: string;
  readonly candidates: readonly Candidate[];
  /** The kind of paths that are possible, too; the shell lists them itself. */
  readonly paths: Paths | null;
}

/** More than anybody reads: with more candidates, people type on. */
const MOST_CANDIDATES = 200;

interface OfferOptions {
  readonly commands: readonly Command[];
  /** `by shell`: the shell filters the candidates itself, unless there are too many. */
  readonly matching: 'prefix' | 'by shell';
}

/** `words` are those behind the program's name up to the cursor; the last one may be empty. */
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
  const isFilteredByShell = matching === 'by shell' && all.length <= MOST_CANDIDATES;
  const candidates = isFilteredByShell ? all : all.filter(({ text }) => isMatch(text));
  return {
    prefix,
    candidates: candidates.slice(0, MOST_CANDIDATES),
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
      const { foundValues } = await import('./values.ts');
      return [...listed, ...(await foundValues(found, placeOf(scan)))];
    }
    default:
      return wanted satisfies never;
  }
}

/** Returns the words that may follow; one that begins several commands is explained by their next words. */
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

function placeOf({ flags }: Scan): CompletionPlace {
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
