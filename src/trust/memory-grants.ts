import { plural } from '../base/text.ts';
import { MAX_INDEX_LINES } from '../engine/memory/prompt-notes.ts';
import type { Grants } from './grants.ts';

/** What it means to trust an agent's notes. */
export function memoryGrants(bytes: Buffer): Grants {
  const count = bytes.toString('utf8').trimEnd().split('\n').length;
  const lines = [
    `notes: ${plural(count, 'line')}, of which the first ${MAX_INDEX_LINES} stand in the prompt of the agent, marked as data`,
    'trusted by their path, also as they change: read them in the file',
  ];
  return { lines, problems: [] };
}
