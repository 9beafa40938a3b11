import { isJsonObject } from '../base/json.ts';

/**
 * A conversation that a task has inherited stands in its first event. Siblings inherit the same, so a large
 * one, of more than `largeLength` characters, is written as one text, which is kept once as a blob like other large strings.
 */
export function packHistory(event: unknown, largeLength: number): unknown {
  return withMessages(event, (messages) => {
    const text = JSON.stringify(messages);
    return text.length > largeLength ? text : messages;
  });
}

/** Undoes `packHistory`. Of one whose text is lost nothing is left. */
export function unpackHistory(event: unknown): unknown {
  return withMessages(event, (messages) =>
    typeof messages === 'string' ? parsed(messages) : messages,
  );
}

function withMessages(event: unknown, change: (messages: unknown) => unknown): unknown {
  if (!isJsonObject(event) || event['type'] !== 'task.created') return event;
  const { spec } = event;
  if (!isJsonObject(spec) || !isJsonObject(spec['inherited'])) return event;
  const { inherited } = spec;
  const messages = change(inherited['messages']);
  return { ...event, spec: { ...spec, inherited: { ...inherited, messages } } };
}

function parsed(text: string): unknown {
  try {
    const messages: unknown = JSON.parse(text);
    return Array.isArray(messages) ? messages : [];
  } catch {
    // Its blob is lost: whoever read the text has noted that.
    return [];
  }
}
