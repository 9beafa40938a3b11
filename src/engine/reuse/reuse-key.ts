import { isJsonObject } from '../../base/json.ts';
import { actingPart } from '../../protocol/agent.ts';
import { modelName } from '../../protocol/model.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { hashContent } from '../../sys/files/read-file.ts';

/** The inputs of a task. A task with equal inputs that reads the same files is expected to give the same result. */
export type ReusableWork = Pick<
  TaskSpec,
  | 'agent'
  | 'prompt'
  | 'given'
  | 'inherited'
  | 'summarised'
  | 'model'
  | 'cwd'
  | 'rights'
  | 'tools'
  | 'limits'
  | 'prefix'
  | 'outputSchema'
  | 'accept'
>;

/**
 * Computes the reuse key of a task: a SHA-256 of its inputs, in hex. The key covers the acting part of the
 * definition, the prompt, the chosen model, the directory, the rights and, through `prefix`, every byte of the system
 * prompt except the line that describes the task. Returns null for a task with additional context, and for a task
 * with a secret in its inputs, because logs contain secrets only in redacted form.
 */
export function reuseKey(work: ReusableWork, redact?: (text: string) => string): string | null {
  const { agent, prompt, model, cwd, rights, tools, limits, prefix, outputSchema, accept } = work;
  const contexts = [work.given, work.inherited, work.summarised];
  if (contexts.some((context) => context !== undefined)) return null;
  const acting = { agent: actingPart(agent), model: modelName(model) };
  const text = sortedJson({
    ...acting,
    prompt,
    cwd,
    rights,
    tools,
    limits,
    prefix,
    outputSchema,
    accept,
  });
  if (containsRedaction(text) || (redact !== undefined && redact(text) !== text)) return null;
  return hashContent(text);
}

/** Returns true if something in a text was redacted. */
export function containsRedaction(text: string): boolean {
  return text.includes(REDACTED);
}

/** Writes JSON with sorted fields, so that equal values give equal texts. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (!isJsonObject(part)) return part;
    return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
