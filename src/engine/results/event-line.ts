import { stripStamp } from '../../protocol/events/event-body.ts';
import { steadyTime } from '../../protocol/state/steady-time.ts';
import { formatDuration, truncate } from '../../base/text.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';

/** Code points of one string of an event, and of a whole line. */
const SHOWN_STRING = 160;
const SHOWN_LINE = 800;

/** An event in one line for a model: number, time since its log's steady time `start`, type, and its fields, long ones cut. */
export function eventLine(event: TaskEvent, start: number): string {
  const { type, ...fields } = stripStamp(event);
  const since = Math.max(0, steadyTime(event) - start);
  const shown = event.type === 'task.created' ? createdFields(event) : fields;
  // As JSON it is one line, whatever stands in it.
  const json = JSON.stringify(shown, (_, value: unknown) =>
    typeof value === 'string' ? cut(value, SHOWN_STRING) : value,
  );
  return cut(`${event.seq} +${formatDuration(since)} ${type} ${json}`, SHOWN_LINE);
}

/** The rest of a specification is for programs. */
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

function cut(text: string, most: number): string {
  const shown = truncate(text, most);
  return shown.length === text.length ? text : `${shown}… [${text.length} characters]`;
}
