import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { catchMusterError, MusterError } from '../../base/errors.ts';
import { removeHiddenCharacters } from '../../base/hidden-characters.ts';
import { plural } from '../../base/text.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { MemoryLocation } from '../../protocol/memory.ts';
import { markOutside } from '../../protocol/outside-text.ts';
import { INDEX_NAME, listNotes, readIndex } from '../../tools/memory/notes.ts';
import { findOwnNotes, type MemorySource } from './memory-source.ts';
import { cutToBytes, fitLines } from '../../tools/shared/output.ts';

/** The maximum number of lines of an index that enter a prompt. */
export const MAX_INDEX_LINES = 200;
/** The maximum number of bytes of an index that enter a prompt. */
export const MAX_INDEX_BYTES = 25_600;

/** The part of a prompt that comes from an agent's notes. */
export interface PromptNotes {
  readonly directory: string;
  readonly text: string;
  /** A sentence that says which notes are left out, and why; null when none are. */
  readonly warning: string | null;
}

interface PromptNotesRequest {
  readonly source: MemorySource | undefined;
  readonly redact: ((text: string) => string) | undefined;
  readonly agent: AgentDefinition;
  readonly cwd: string;
  /** Requests with the same object get the same notes, whatever happens to the files. Default: a fresh read. */
  readonly moment: object | undefined;
}

const SEEN = new WeakMap<object, Map<string, PromptNotes>>();

/** Reads the notes of an agent for its prompt. Returns null when the agent keeps no notes of its own. */
export function readPromptNotes(parts: PromptNotesRequest): PromptNotes | null {
  const { source, agent, cwd, moment } = parts;
  const place = source === undefined ? null : findOwnNotes(source, agent, cwd);
  if (source === undefined || place === null) return null;
  if (moment === undefined) return readCurrentNotes(parts, source, place);
  const seen = SEEN.get(moment) ?? new Map<string, PromptNotes>();
  SEEN.set(moment, seen);
  // Agents of one id share a directory, and may be trusted differently.
  const key = `${agent.origin.scope} ${place.directory}`;
  const known = seen.get(key) ?? readCurrentNotes(parts, source, place);
  seen.set(key, known);
  return known;
}

function readCurrentNotes(
  { agent, redact = (text) => text }: PromptNotesRequest,
  source: MemorySource,
  place: MemoryLocation,
): PromptNotes {
  const { directory } = place;
  const index = catchMusterError(() => readIndex(place, listNotes(place)).text);
  if (index instanceof MusterError) {
    const warning = `the notes of agent ${agent.name} are left out of its prompt: ${index.message}`;
    return { directory, text: HOW, warning };
  }
  if (index.trim() === '')
    return { directory, text: `${HOW}\nThere are no notes yet.`, warning: null };
  // A definition of the project was trusted together with the notes that it asks for.
  const isAsked = place.scope === 'user' || agent.origin.scope === 'project';
  if (!isAsked && !source.trusts(join(directory, INDEX_NAME))) {
    const warning = `the notes of agent ${agent.name} in ${directory} are left out of its prompt, because you have not trusted them: see \`muster trust list\`, then \`muster trust add\``;
    return { directory, text: HOW, warning };
  }
  const { text, hidden } = removeHiddenCharacters(index);
  const warning =
    hidden === 0
      ? null
      : `the notes of agent ${agent.name} in ${directory} hold ${plural(hidden, 'invisible character')}, which are left out of its prompt`;
  return { directory, text: `${HOW}\n${formatNotesIndex(redact(text))}`, warning };
}

const HOW = `# Memory
You keep notes from run to run in a directory of your own, which the Memory tools work in (leave \`scope\` out). Look up what fits the task; write down what will help in later runs and can't be seen in the files: a fact a line, corrected rather than repeated. ${INDEX_NAME} lists the notes, a line each, and is kept true for you.`;

/** Formats the part of an index that fits into a prompt, marked as outside text. Pure. */
export function formatNotesIndex(index: string): string {
  const all = index.trimEnd().split('\n');
  const { lines } = fitLines(all.slice(0, MAX_INDEX_LINES), MAX_INDEX_BYTES);
  const note =
    lines.length === 0
      ? ' (its first line is cut; make it shorter)'
      : omittedLinesNote(all.length - lines.length, lines);
  const text = lines.length === 0 ? cutToBytes(all[0] ?? '', MAX_INDEX_BYTES) : lines.join('\n');
  return `${INDEX_NAME}${note}:\n${markOutside(text, nonceOf(text))}`;
}

function omittedLinesNote(omitted: number, { length }: readonly string[]): string {
  if (omitted === 0) return '';
  return ` (${plural(omitted, 'more line')}: MemoryRead with offset ${length + 1}; keep it shorter)`;
}

/**
 * Derives the nonce from the text, so that siblings and later runs share the same bytes. An author of notes can't
 * foresee it, since it depends on all of the text.
 */
function nonceOf(text: string): string {
  for (let salt = 0; ; salt += 1) {
    const nonce = createHash('sha256').update(`${salt}\n${text}`).digest('hex').slice(0, 16);
    if (!text.includes(nonce)) return nonce;
  }
}
