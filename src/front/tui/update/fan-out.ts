import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { TaskEvent } from '../../../protocol/events/event.ts';
import { toolCalls } from '../../../protocol/message.ts';
import type { TaskState } from '../../../protocol/state/task-state.ts';
import type { PlannedFanOut } from '../../../report/fan-out-estimate.ts';
import { calledAgent } from '../model/call-details.ts';
import type { LibraryInfo } from '../model/ui-library.ts';

/** The minimum number of equal tasks of a message for which the cost is estimated. */
const MIN_TASKS = 8;
/** The agent of a template that names none. */
const DEFAULT_AGENT = 'general-purpose';

type Definitions = Pick<LibraryInfo, 'agents' | 'templates'>;

/** Tasks that a call starts: their agent, the requested model, and their number. */
interface StartedTasks {
  readonly agent: string;
  /** The model that a template requests; null if the definition of the agent decides. */
  readonly model: string | null;
  readonly count: number;
}

/**
 * Returns the fan-out that an answer of the main agent begins: many tasks of the same agent, by calls of Task or of
 * RunTemplate. Returns null for every other event.
 */
export function findFanOut(
  event: TaskEvent,
  { spec }: Pick<TaskState, 'spec'>,
  definitions: Definitions,
): PlannedFanOut | null {
  if (event.type !== 'turn.ended' || spec.parent !== null) return null;
  const started = toolCalls(event.message).flatMap(
    ({ name, input }) => startedTasks(name, input, definitions) ?? [],
  );
  const groups = Map.groupBy(started, ({ agent, model }) => JSON.stringify([agent, model]));
  for (const group of groups.values()) {
    const count = group.reduce((sum, each) => sum + each.count, 0);
    const [first] = group;
    if (first === undefined || count < MIN_TASKS) continue;
    const { agent, model } = first;
    const requested = model ?? definitions.agents.agents.find(({ name }) => name === agent)?.model;
    const inherited = `${spec.model.provider}/${spec.model.id}`;
    return { agent, count, model: (requested ?? 'inherit') === 'inherit' ? inherited : null };
  }
  return null;
}

/** Returns the tasks that a call starts; null if it starts none. */
function startedTasks(
  tool: string,
  input: JsonValue,
  { templates }: Definitions,
): StartedTasks | null {
  const agent = calledAgent(tool, input);
  if (agent !== null) return { agent, model: null, count: 1 };
  if (tool !== 'RunTemplate' || !isJsonObject(input)) return null;
  const { template: name, items } = input;
  if (typeof name !== 'string' || !Array.isArray(items)) return null;
  const template = templates.find((each) => each.name.toLowerCase() === name.toLowerCase());
  if (template === undefined) return null;
  const { agent: worker = DEFAULT_AGENT, model = null } = template;
  return { agent: worker, model, count: items.length };
}
