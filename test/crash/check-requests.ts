import type { RecordedRequest } from '../../src/testing/index.ts';
import { taskOfPrompt } from './scenario.ts';
import {
  CHILDREN,
  newsMark,
  resultMark,
  taskOf,
  toldTexts,
  type Child,
  type Seen,
} from './tree-script.ts';
import type { TaskState } from '../../src/protocol/state/task-state.ts';

/** A request, as the model got it. */
export interface Sent extends Seen {
  /** As it came: the same bytes make the same request. */
  readonly rawBody: string;
}

/** What is wrong with the requests of a whole run, in order of arrival, one sentence each. */
export function wrongRequests(
  requests: readonly Sent[],
  states: readonly TaskState[],
): readonly string[] {
  return [
    ...requests.flatMap(unanswered),
    ...wrongRepeats(requests),
    ...states.flatMap((state) => wrongShellNotices(state, requests)),
    ...CHILDREN.flatMap((child) => wrongDelivery(child, requests, states)),
  ];
}

/** Which request of its task it is: the same one, sent again, has the same number. */
function turnOf({ messages }: Sent): number {
  return messages.filter(({ role }) => role === 'assistant').length;
}

/** Every call has its result, once and in the message after it. */
function unanswered(request: Sent): readonly string[] {
  const { messages } = request;
  return messages.flatMap(({ toolCalls }, index) => {
    if (toolCalls.length === 0) return [];
    const called = toolCalls.map(({ id }) => id).join();
    const answered = messages[index + 1]?.toolResults.map(({ callId }) => callId).join();
    if (called === answered) return [];
    return [`${taskOf(request)}: the calls ${called} are followed by results of ${answered}`];
  });
}

/** Requests that were sent again. */
export function repeats(requests: readonly RecordedRequest[]): number {
  return requests.filter(({ attempt }) => attempt > 1).length;
}

/** What is asked for once more after a crash is what was asked before, byte for byte. */
function wrongRepeats(requests: readonly Sent[]): readonly string[] {
  const bodies = new Map<string, string>();
  return requests.flatMap((request) => {
    const place = `${taskOf(request)}: request ${turnOf(request) + 1}`;
    const before = bodies.get(place);
    bodies.set(place, request.rawBody);
    if (before === undefined || before === request.rawBody) return [];
    return [`${place} is not what it was: ${difference(before, request.rawBody)}`];
  });
}

function difference(before: string, after: string): string {
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  const from = Math.max(0, same - 40);
  return `${before.slice(from, same + 80)} … now: ${after.slice(from, same + 80)}`;
}

/** Of each shell that ended by itself or with its owner the task was told once; of others it knows. */
function wrongShellNotices(state: TaskState, requests: readonly Sent[]): readonly string[] {
  const name = taskOfPrompt(state.spec.prompt);
  const last = requests.findLast((request) => taskOf(request) === name);
  const told = toldTexts(last?.messages ?? []).join('\n');
  return [...state.shells].flatMap(([id, { end }]) => {
    const due = end?.how === 'exited' || end?.how === 'lost' ? 1 : 0;
    const count = told.split(`- Shell ${id} (`).length - 1;
    return count === due ? [] : [`${name} was told ${count} times of a shell: ${end?.how}`];
  });
}

/** In its parent's last request each of its results stands once, and in its own all it was sent. */
function wrongDelivery(
  child: Child,
  requests: readonly Sent[],
  states: readonly TaskState[],
): readonly string[] {
  const { name, parent, getsNews } = child;
  const last = (task: string) => requests.findLast((request) => taskOf(request) === task);
  const above = last(parent);
  const state = states.find(({ spec }) => taskOfPrompt(spec.prompt) === name);
  if (above === undefined || state === undefined) return [`${name} is missing`];
  const texts = toldTexts(above.messages);
  const wrong: string[] = [];
  for (const hasNews of [false, true]) {
    const mark = resultMark(name, { hasNews });
    // Told while it was still at work, it has but one end, and its first result is none.
    const isDue = hasNews === getsNews || state.activation.number > 0;
    const count = texts.join('\n').split(mark).length - 1;
    if (count !== (isDue ? 1 : 0)) wrong.push(`${parent} was told ${mark} ${count} times`);
  }
  const { id, parent: owner, parentCall } = state.spec;
  const known = states.find(({ spec }) => spec.id === owner)?.children.get(id);
  // One whose parent waited for it no longer, or woke it since, tells of its end in another way.
  if (known?.background === false && known.callId === parentCall) {
    const results = above.messages.flatMap(({ toolResults }) => toolResults);
    const own = results.find(({ callId }) => callId === parentCall)?.text ?? '';
    if (!own.includes(resultMark(name, { hasNews: false }))) {
      wrong.push(`${parent} has the result of ${name} elsewhere than where it waited for it`);
    }
  }
  const news =
    toldTexts(last(name)?.messages ?? [])
      .join('\n')
      .split(newsMark(name)).length - 1;
  if (news !== (getsNews ? 1 : 0)) wrong.push(`${name} was told its news ${news} times`);
  return wrong;
}
