import { isJsonObject, type JsonObject } from '../../base/json.ts';

/**
 * A conversation that a task has inherited, or gets a summary of, stands in its first event. Siblings have
 * the same, so what is large of it, of more than `largeLength` characters, is written as one text, which is
 * kept once as a blob like other large strings.
 */
export function packHistory(event: unknown, largeLength: number): unknown {
  return withHistory(event, (part) => {
    const text = JSON.stringify(part);
    return text.length > largeLength ? text : part;
  });
}

/** Undoes `packHistory`. Of one whose text is lost nothing is left. */
export function unpackHistory(event: unknown): unknown {
  return withHistory(event, (part, lost) => (typeof part === 'string' ? parsed(part, lost) : part));
}

/** Changes a large part; `lost`: what stands for one that nobody can read any more. */
type Change = (part: unknown, lost: object) => unknown;

const NO_PREFIX = { system: [], tools: [] };

function withHistory(event: unknown, change: Change): unknown {
  if (!isJsonObject(event) || event['type'] !== 'task.created') return event;
  const { spec } = event;
  if (!isJsonObject(spec)) return event;
  const { inherited, summarised } = spec;
  if (!isJsonObject(inherited) && !isJsonObject(summarised)) return event;
  return {
    ...event,
    spec: {
      ...spec,
      ...(isJsonObject(inherited) && { inherited: withMessages(inherited, change) }),
      ...(isJsonObject(summarised) && {
        summarised: {
          ...withMessages(summarised, change),
          prefix: change(summarised['prefix'], NO_PREFIX),
        },
      }),
    },
  };
}

function withMessages(conversation: JsonObject, change: Change) {
  return { ...conversation, messages: change(conversation['messages'], []) };
}

function parsed(text: string, lost: object): unknown {
  try {
    const part: unknown = JSON.parse(text);
    return Array.isArray(part) === Array.isArray(lost) && typeof part === 'object' ? part : lost;
  } catch {
    // Its blob is lost: whoever read the text has noted that.
    return lost;
  }
}
