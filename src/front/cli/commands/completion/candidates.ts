import { resolve } from 'node:path';
import { COMMAND_KINDS, commandSpec, type CommandKind } from '../../command-table.ts';
import { flagSpec, type FlagName } from '../../flags.ts';
import type { Scan } from '../../scan.ts';
import type { Paths } from './sources.ts';
import { foundValues, type Candidate, type CompletionPlace } from './values.ts';
import { wordAtCursor, type WordAtCursor } from './word-at-cursor.ts';
import { absolutePath } from '../../../../sys/paths.ts';

/** What could stand for the word at the cursor. */
export interface Offer {
  /** What the word begins with whatever follows, as `--model=`. */
  readonly prefix: string;
  readonly candidates: readonly Candidate[];
  /** Which paths of this machine could, too; a shell knows them best. */
  readonly paths: Paths | null;
}

/** More than anybody reads; what is looked for among more of them is typed further. */
const MOST_CANDIDATES = 200;

/**
 * `words` are those behind the program's name up to the cursor; the last one may be empty. `matching`:
 * candidates begin with what is typed, or, where there are not too many of them, the shell chooses.
 */
export async function offerFor(
  words: readonly string[],
  { matching }: { readonly matching: 'prefix' | 'by shell' },
): Promise<Offer> {
  const word = wordAtCursor(words);
  const { wanted, prefix, typed } = word;
  const all = plainAndOnce(await allCandidates(word));
  const beginsAlike =
    matching === 'prefix'
      ? (text: string) => text.startsWith(typed)
      : (text: string) => text.toLowerCase().startsWith(typed.toLowerCase());
  const isShellsChoice = matching === 'by shell' && all.length <= MOST_CANDIDATES;
  const candidates = isShellsChoice ? all : all.filter(({ text }) => beginsAlike(text));
  return {
    prefix,
    candidates: candidates.slice(0, MOST_CANDIDATES),
    paths: (wanted.kind === 'value' ? wanted.source.paths : undefined) ?? null,
  };
}

async function allCandidates({ wanted, scan }: WordAtCursor): Promise<readonly Candidate[]> {
  switch (wanted.kind) {
    case 'command word':
      return commandWords(wanted.after);
    case 'flag':
      return wanted.flags.map((name) => flagCandidate(name, wanted.command));
    case 'value': {
      const { words = [], found } = wanted.source;
      const listed = words.map((text) => ({ text, about: '' }));
      if (found === undefined) return listed;
      return [...listed, ...(await foundValues(found, placeOf(scan)))];
    }
    default:
      return wanted satisfies never;
  }
}

/** A word that begins several commands tells what may follow. */
function commandWords(after: readonly string[]): readonly Candidate[] {
  const commands = COMMAND_KINDS.map((kind) => commandSpec(kind))
    .map(({ words, summary }) => ({ words: words.split(' '), summary }))
    .filter(({ words }) => words.length > after.length)
    .filter(({ words }) => after.every((word, index) => words[index] === word));
  const byNext = Map.groupBy(commands, ({ words }) => words[after.length] ?? '');
  return [...byNext].map(([text, found]) => ({
    text,
    about: found.map(({ words, summary }) => words[after.length + 1] ?? summary).join(', '),
  }));
}

function flagCandidate(name: FlagName, command: CommandKind | null): Candidate {
  const own = command === null ? undefined : commandSpec(command).flagHelp?.[name];
  return { text: `--${name}`, about: own?.help ?? flagSpec(name).help };
}

function placeOf({ flags }: Scan): CompletionPlace {
  const directory = (name: FlagName): string | null => {
    const given = flags.get(name)?.at(-1) ?? '';
    return given === '' ? null : absolutePath(given, resolve('.'));
  };
  const dataDir = directory('data-dir');
  return {
    cwd: directory('cwd') ?? resolve('.'),
    trustProject: flags.has('trust-project'),
    ...(dataDir === null ? {} : { dataDir }),
  };
}

function plainAndOnce(candidates: readonly Candidate[]): readonly Candidate[] {
  const plain = candidates.filter(({ text }) => isPlainWord(text));
  return [...new Map(plain.toReversed().map((each) => [each.text, each])).values()].toReversed();
}

/** What means itself in every shell: a name out of somebody's file is never put where a shell would act on it. */
export function isPlainWord(text: string): boolean {
  return /^(?:--)?[\p{L}\p{N}_][\p{L}\p{N}_%+=:,./-]*$/u.test(text);
}
