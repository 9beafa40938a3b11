import { isJsonObject } from '../../base/json.ts';
import { actingPart } from '../../protocol/agent.ts';
import { modelName } from '../../protocol/model.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { hashContent } from '../../sys/files/read-file.ts';

/** What a task is given: with the same, and with the same to read, it comes to the same result. */
export type GivenWork = Pick<
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
>;

/**
 * The key of such work, sha256 hex: its definition as it acts, the prompt, the model chosen, directory and
 * rights, and by `prefix` every byte of its system prompt but the line that describes the task. Null: it
 * was told more than that, or logs don't keep all of it, since it holds a secret.
 */
export function reuseKey(work: GivenWork, redact?: (text: string) => string): string | null {
  const {
    agent,
    prompt,
    given,
    inherited,
    summarised,
    model,
    cwd,
    rights,
    tools,
    limits,
    prefix,
    outputSchema,
  } = work;
  if (given !== undefined || inherited !== undefined || summarised !== undefined) return null;
  const acting = { agent: actingPart(agent), model: modelName(model) };
  const text = sortedJson({ ...acting, prompt, cwd, rights, tools, limits, prefix, outputSchema });
  if (isRedacted(text) || (redact !== undefined && redact(text) !== text)) return null;
  return hashContent(text);
}

/** Whether something of it is not known any more. */
export function isRedacted(text: string): boolean {
  return text.includes(REDACTED);
}

/** The same for equal values, in whichever order their fields came. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (!isJsonObject(part)) return part;
    return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
