import { stripStamp } from '../../protocol/events/event-body.ts';
import { steadyTime } from '../../protocol/state/steady-time.ts';
import { formatDuration, truncate } from '../../base/text.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';

/** The most code points of one string of an event, and of a full line. */
const MAX_STRING = 160;
const MAX_LINE = 800;

/**
 * Formats an event as one line for a model: its number, the time since `start` (steady time of the log), its type
 * and its fields; long ones are cut.
 */
export function formatEventLine(event: TaskEvent, start: number): string {
  const { type, ...fields } = stripStamp(event);
  const since = Math.max(0, steadyTime(event) - start);
  const shown = event.type === 'task.created' ? createdFields(event) : fields;
  // JSON is one line, whatever it holds.
  const json = JSON.stringify(shown, (_, value: unknown) =>
    typeof value === 'string' ? shorten(value, MAX_STRING) : value,
  );
  return shorten(`${event.seq} +${formatDuration(since)} ${type} ${json}`, MAX_LINE);
}

/** Returns the fields of a specification that a model can use. */
function createdFields({ spec }: Extract<TaskEvent, { type: 'task.created' }>) {
  const { parent, depth, agent, model, description, prompt, mentions, tools } = spec;
  return {
    parent,
    depth,
    agent: agent.name,
    model: `${model.provider}/${model.id}`,
    description,
    prompt,
    ...(mentions === undefined ? {} : { mentions }),
    tools,
  };
}

function shorten(text: string, most: number): string {
  const shown = truncate(text, most);
  return shown.length === text.length ? text : `${shown}… [${text.length} characters]`;
}
