import { formatDuration, truncate } from '../base/text.ts';
import type { TaskEvent } from '../protocol/event.ts';

/** Code points of one string of an event, and of a whole line. */
const SHOWN_STRING = 160;
const SHOWN_LINE = 800;

/** An event in one line for a model: number, time since `start`, type, and its fields, long ones cut. */
export function eventLine(event: TaskEvent, start: number): string {
  const { v: _v, seq, ts, task: _task, epoch: _epoch, type, ...fields } = event;
  const shown = event.type === 'task.created' ? createdFields(event) : fields;
  // As JSON it is one line, whatever stands in it.
  const json = JSON.stringify(shown, (_, value: unknown) =>
    typeof value === 'string' ? cut(value, SHOWN_STRING) : value,
  );
  return cut(`${seq} +${formatDuration(ts - start)} ${type} ${json}`, SHOWN_LINE);
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
