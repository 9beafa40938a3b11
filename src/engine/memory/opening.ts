import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { removeHiddenCharacters } from '../../base/hidden-characters.ts';
import { plural } from '../../base/text.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { MemoryLocation } from '../../protocol/memory.ts';
import { markOutside } from '../../protocol/outside-text.ts';
import { INDEX_NAME } from '../../tools/memory/index-file.ts';
import { listNotes, readIndex } from '../../tools/memory/notes.ts';
import { ownPlace, type MemorySource } from './memory-source.ts';
import { cutToBytes, fitLines } from '../../tools/shared/output.ts';

/** Of an index, so much enters a prompt at most: lines, and bytes of them. */
export const OPENING_LINES = 200;
export const OPENING_BYTES = 25_600;

/** What an agent's notes put into its prompt. */
export interface MemoryOpening {
  readonly directory: string;
  readonly text: string;
  /** What of its notes is left out, and why, as a sentence; null: nothing. */
  readonly warning: string | null;
}

interface OpeningParts {
  readonly source: MemorySource | undefined;
  readonly redact: ((text: string) => string) | undefined;
  readonly agent: AgentDefinition;
  readonly cwd: string;
  /** Those who are asked for one see the same, whatever happens to the files. Absent: as it is now. */
  readonly moment: object | undefined;
}

const SEEN = new WeakMap<object, Map<string, MemoryOpening>>();

/** Null: the agent keeps no notes of its own. Reads them from the disk. */
export function memoryOpening(parts: OpeningParts): MemoryOpening | null {
  const { source, agent, cwd, moment } = parts;
  const place = source === undefined ? null : ownPlace(source, agent, cwd);
  if (source === undefined || place === null) return null;
  if (moment === undefined) return openingNow(parts, source, place);
  const seen = SEEN.get(moment) ?? new Map<string, MemoryOpening>();
  SEEN.set(moment, seen);
  // Agents of one id share a directory, and may be trusted differently.
  const key = `${agent.origin.scope} ${place.directory}`;
  const known = seen.get(key) ?? openingNow(parts, source, place);
  seen.set(key, known);
  return known;
}

function openingNow(
  { agent, redact = (text) => text }: OpeningParts,
  source: MemorySource,
  place: MemoryLocation,
): MemoryOpening {
  const { directory } = place;
  const index = indexOf(place);
  if (index instanceof MusterError) {
    const warning = `the notes of agent ${agent.name} are left out of its prompt: ${index.message}`;
    return { directory, text: HOW, warning };
  }
  if (index.trim() === '')
    return { directory, text: `${HOW}\nNo notes are there yet.`, warning: null };
  // A definition that the project brings was trusted with what it asks for.
  const isAsked = place.scope === 'user' || agent.origin.scope === 'project';
  if (!isAsked && !source.trusts(join(directory, INDEX_NAME))) {
    const warning = `the notes of agent ${agent.name} in ${directory} are left out of its prompt, because you have not trusted them: see \`muster trust list\`, then \`muster trust add\``;
    return { directory, text: HOW, warning };
  }
  const { text, hidden } = removeHiddenCharacters(index);
  const warning =
    hidden === 0
      ? null
      : `the notes of agent ${agent.name} in ${directory} hold ${plural(hidden, 'character')} that nobody sees: left out of its prompt`;
  return { directory, text: `${HOW}\n${openingText(redact(text))}`, warning };
}

const HOW = `# Memory
You keep notes from run to run in a directory of your own, which the Memory tools work in (leave \`scope\` out). Look up what fits the task; write down what will help in later runs and can't be seen in the files: a fact a line, corrected rather than repeated. ${INDEX_NAME} lists the notes, a line each, and is kept true for you.`;

function indexOf(place: MemoryLocation): string | MusterError {
  try {
    return readIndex(place, listNotes(place)).text;
  } catch (thrown) {
    if (thrown instanceof MusterError) return thrown;
    throw thrown;
  }
}

/** As much of an index as enters a prompt, marked as outside text: the same for the same index. Pure. */
export function openingText(index: string): string {
  const all = index.trimEnd().split('\n');
  const { lines } = fitLines(all.slice(0, OPENING_LINES), OPENING_BYTES);
  const left = all.length - lines.length;
  const rest =
    lines.length === 0 ? ' (its first line is cut; make it shorter)' : restOf(left, lines);
  const text = lines.length === 0 ? cutToBytes(all[0] ?? '', OPENING_BYTES) : lines.join('\n');
  return `${INDEX_NAME}${rest}:\n${markOutside(text, nonceOf(text))}`;
}

function restOf(left: number, { length }: readonly string[]): string {
  if (left === 0) return '';
  return ` (${plural(left, 'more line')}: MemoryRead with offset ${length + 1}; keep it shorter)`;
}

/** Drawn from the text: siblings, and later runs, then share the bytes; what stands in it can't be foreseen. */
function nonceOf(text: string): string {
  for (let salt = 0; ; salt += 1) {
    const nonce = createHash('sha256').update(`${salt}\n${text}`).digest('hex').slice(0, 16);
    if (!text.includes(nonce)) return nonce;
  }
}
