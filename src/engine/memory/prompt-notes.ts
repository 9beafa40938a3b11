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

/** The maximum number of lines of an index in a prompt. */
export const MAX_INDEX_LINES = 200;
/** The maximum number of bytes of an index in a prompt. */
export const MAX_INDEX_BYTES = 25_600;

/** The part of a prompt that comes from an agent's notes. */
export interface PromptNotes {
  readonly directory: string;
  readonly text: string;
  /** A sentence that says which notes are left out, and why; null if none are. */
  readonly warning: string | null;
}

/** The agent whose notes are read, and the ports for reading them. */
interface PromptNotesRequest {
  readonly source: MemorySource | undefined;
  readonly redact: ((text: string) => string) | undefined;
  readonly agent: AgentDefinition;
  readonly cwd: string;
  /** Requests with the same object get the same notes, even if the files change. Undefined: reads the files now. */
  readonly moment: object | undefined;
}

/** The notes that were read, by moment, and then by the scope of the agent and the directory. */
const NOTES_BY_MOMENT = new WeakMap<object, Map<string, PromptNotes>>();

/** Reads the notes of an agent for its prompt. Returns null if the agent has no notes of its own. */
export function readPromptNotes(request: PromptNotesRequest): PromptNotes | null {
  const { source, agent, cwd, moment } = request;
  const location = source === undefined ? null : findOwnNotes(source, agent, cwd);
  if (source === undefined || location === null) return null;
  if (moment === undefined) return readCurrentNotes(request, source, location);
  const seen = NOTES_BY_MOMENT.get(moment) ?? new Map<string, PromptNotes>();
  NOTES_BY_MOMENT.set(moment, seen);
  // Agents with the same id share a directory, but their notes may be trusted differently.
  const key = `${agent.origin.scope} ${location.directory}`;
  const known = seen.get(key) ?? readCurrentNotes(request, source, location);
  seen.set(key, known);
  return known;
}

/** Reads the notes from the disk now. Leaves them out, with a warning, if they are unreadable or not trusted. */
function readCurrentNotes(
  { agent, redact = (text) => text }: PromptNotesRequest,
  source: MemorySource,
  location: MemoryLocation,
): PromptNotes {
  const { directory } = location;
  const index = catchMusterError(() => readIndex(location, listNotes(location)).text);
  if (index instanceof MusterError) {
    const warning = `the notes of agent ${agent.name} are left out of its prompt: ${index.message}`;
    return { directory, text: MEMORY_INSTRUCTIONS, warning };
  }
  if (index.trim() === '')
    return { directory, text: `${MEMORY_INSTRUCTIONS}\nThere are no notes yet.`, warning: null };
  // The user trusted a definition of the project together with the notes that it requests.
  const isRequestedByTrusted = location.scope === 'user' || agent.origin.scope === 'project';
  if (!isRequestedByTrusted && !source.trusts(join(directory, INDEX_NAME))) {
    const warning = `the notes of agent ${agent.name} in ${directory} are left out of its prompt, because you have not trusted them: see \`muster trust list\`, then \`muster trust add\``;
    return { directory, text: MEMORY_INSTRUCTIONS, warning };
  }
  const { text, hidden } = removeHiddenCharacters(index);
  const warning =
    hidden === 0
      ? null
      : `the notes of agent ${agent.name} in ${directory} hold ${plural(hidden, 'invisible character')}, which are left out of its prompt`;
  return { directory, text: `${MEMORY_INSTRUCTIONS}\n${formatNotesIndex(redact(text))}`, warning };
}

const MEMORY_INSTRUCTIONS = `# Memory
You keep notes from run to run in a directory of your own, which the Memory tools work in (leave \`scope\` out). Look up what fits the task; write down what will help in later runs and can't be seen in the files: a fact a line, corrected rather than repeated. ${INDEX_NAME} lists the notes, a line each, and is kept true for you.`;

/** Formats the part of an index that fits into a prompt, marked as outside text. */
export function formatNotesIndex(index: string): string {
  const all = index.trimEnd().split('\n');
  const { lines } = fitLines(all.slice(0, MAX_INDEX_LINES), MAX_INDEX_BYTES);
  const note =
    lines.length === 0
      ? ' (its first line is cut; make it shorter)'
      : omittedLinesNote(all.length - lines.length, lines);
  const text = lines.length === 0 ? cutToBytes(all[0] ?? '', MAX_INDEX_BYTES) : lines.join('\n');
  return `${INDEX_NAME}${note}:\n${markOutside(text, deriveNonce(text))}`;
}

function omittedLinesNote(omitted: number, { length }: readonly string[]): string {
  if (omitted === 0) return '';
  return ` (${plural(omitted, 'more line')}: MemoryRead with offset ${length + 1}; keep it shorter)`;
}

/**
 * Derives the nonce of an outside text from the text itself, so that the prompts of siblings and of later runs have the
 * same bytes. The author of the notes can't foresee the nonce, since it depends on the full text.
 */
function deriveNonce(text: string): string {
  for (let salt = 0; ; salt += 1) {
    const nonce = createHash('sha256').update(`${salt}\n${text}`).digest('hex').slice(0, 16);
    if (!text.includes(nonce)) return nonce;
  }
}
