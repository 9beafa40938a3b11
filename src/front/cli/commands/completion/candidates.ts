import { resolve } from 'node:path';
import { COMMAND_KINDS, commandSpec, type CommandKind } from '../../command-table.ts';
import { flagSpec, type FlagName } from '../../flags.ts';
import type { Scan } from '../../scan.ts';
import { askedFor, type Asked } from './asked.ts';
import { valuesOf, type Candidate, type CompletionPlace } from './values.ts';

/** What could stand for the last word: paths, which a shell knows best, or these. */
export type Offer =
  | { readonly kind: 'files' | 'directories' }
  | {
      readonly kind: 'words';
      /** What the word begins with and keeps, as in `--model=`. */
      readonly kept: string;
      readonly candidates: readonly Candidate[];
    };

/** More than anybody reads; what is looked for among more of them is typed further. */
const MOST = 200;

/** `words` are those behind the program's name up to the cursor; the last one may be empty. */
export async function offerFor(words: readonly string[]): Promise<Offer> {
  const asked = askedFor(words);
  const { wanted, kept, typed } = asked;
  if (wanted.kind === 'value' && (wanted.source === 'files' || wanted.source === 'directories')) {
    return { kind: wanted.source };
  }
  const all = await everythingFor(asked);
  const candidates = all.filter(({ text }) => text.startsWith(typed) && isPlainWord(text));
  return { kind: 'words', kept, candidates: candidates.slice(0, MOST) };
}

async function everythingFor({ wanted, scan }: Asked): Promise<readonly Candidate[]> {
  switch (wanted.kind) {
    case 'command word':
      return commandWords(wanted.after);
    case 'flag':
      return wanted.flags.map((name) => flagCandidate(name, wanted.command));
    case 'value': {
      const { source } = wanted;
      if (typeof source !== 'string') return source.map((text) => ({ text, about: '' }));
      if (source === 'anything' || source === 'files' || source === 'directories') return [];
      return valuesOf(source, placeOf(scan));
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
  const last = (name: FlagName) => flags.get(name)?.at(-1) ?? null;
  const dataDir = last('data-dir');
  return {
    cwd: resolve(last('cwd') ?? '.'),
    trustProject: flags.has('trust-project'),
    ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
  };
}

/** What means itself in every shell: a name out of somebody's file is never put where a shell would act on it. */
function isPlainWord(text: string): boolean {
  return /^(?:--)?[\p{L}\p{N}_][\p{L}\p{N}_%+=:,./-]*$/u.test(text);
}
