import { closeSync, openSync } from 'node:fs';
import { agentText, MAX_AGENT_BYTES } from '../../agents/read-text.ts';
import { errorMessage, UsageError } from '../../base/errors.ts';
import { readAtMost } from '../../sys/read-at-most.ts';

/** The text of a file, or a pipe, that a person names as a prompt: at most what an agent's file may hold. */
export function readPromptFile(path: string): string {
  const text = agentText(bytesOf(path));
  if (!text.ok) throw new UsageError(`--prompt-file ${path}: ${text.reason}`);
  return text.text;
}

function bytesOf(path: string): Buffer {
  let bytes: Buffer | undefined;
  try {
    const descriptor = openSync(path, 'r');
    try {
      bytes = readAtMost(descriptor, MAX_AGENT_BYTES);
    } finally {
      closeSync(descriptor);
    }
  } catch (thrown) {
    throw new UsageError(`--prompt-file ${path}: ${errorMessage(thrown)}`);
  }
  if (bytes !== undefined) return bytes;
  throw new UsageError(`--prompt-file ${path}: larger than ${MAX_AGENT_BYTES / 1024 / 1024} MB`);
}
