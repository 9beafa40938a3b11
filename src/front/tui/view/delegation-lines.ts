import {
  countStates,
  delegationStates,
  type CallGroup,
  type DelegationState,
  type KeyedCall,
} from '../model/call-groups.ts';
import type { CallEntry, ChildEntry } from '../model/entry.ts';
import { fitLine, joinEnds, visibleWidth } from './fit.ts';
import { shortCost, shortTokens } from './numbers.ts';
import type { Pen } from './pen.ts';
import type { TextRole } from './theme.ts';

/** The way in which delegations are drawn. */
interface DelegationStyle {
  readonly pen: Pen;
  readonly width: number;
  /** The name of the key that moves the focus to the tree; empty if there is none. */
  readonly tasksKey: string;
}

/** The maximum width of a line, as for other entries. */
const MAX_WIDTH = 120;
/** The minimum number of columns for the descriptions of the calls of a block. */
const MIN_ABOUT = 12;

const SIGNS: Readonly<Record<DelegationState, readonly [string, TextRole]>> = {
  'at work': ['●', 'accent'],
  waiting: ['○', 'dim'],
  failed: ['✗', 'bad'],
  refused: ['⊘', 'bad'],
  partial: ['◐', 'warn'],
  stopped: ['■', 'dim'],
  done: ['✓', 'good'],
};

/** The states in the order in which the sign of a block shows them. */
const URGENT_FIRST: readonly DelegationState[] = [
  'at work',
  'waiting',
  'failed',
  'refused',
  'partial',
  'stopped',
  'done',
];

function signOf(states: readonly DelegationState[]): readonly [string, TextRole] {
  return SIGNS[URGENT_FIRST.find((state) => states.includes(state)) ?? 'done'];
}

/** Draws the line of a block of equal calls: `12 × Explore: 7 done, 1 failed, 4 at work`. */
export function groupLine({ agent, calls }: CallGroup, { pen, width }: DelegationStyle): string {
  const states = calls.flatMap(delegationStates);
  const [sign, role] = signOf(states);
  const counts = countStates(states);
  const head = `${pen.paint(role, sign)} ${pen.prose('strong', `${calls.length} × ${agent}`)}${pen.prose('text', `: ${counts}`)}`;
  const room = Math.min(width, MAX_WIDTH) - visibleWidth(head) - 3;
  if (room < MIN_ABOUT) return fitLine(head, width);
  const about = pen.prose('dim', calls.map((call) => describeCall(call, agent)).join(', '));
  return `${head} ${pen.prose('dim', '·')} ${fitLine(about, room)}`;
}

function describeCall({ subject }: CallEntry, agent: string): string {
  return subject.startsWith(`${agent}: `) ? subject.slice(agent.length + 2) : subject;
}

/** Draws one call of an unfolded block. */
export function memberLine(
  call: KeyedCall,
  { agent }: CallGroup,
  { pen, width }: DelegationStyle,
): string {
  const states = delegationStates(call);
  const [sign, role] = signOf(states);
  const [task] = call.tasks ?? [];
  const id = task === undefined ? '' : `${pen.prose('dim', task.id.slice(0, 6))} `;
  const left = `  ${pen.paint(role, sign)} ${id}${pen.prose('text', describeCall(call, agent))}`;
  return joinEnds(left, pen.prose('dim', states.join(', ')), Math.min(width, MAX_WIDTH));
}

/** Whether a call has started a task that it does not wait for. */
export function isBackgroundStart({ state, tasks = [] }: CallEntry): boolean {
  return tasks.some(({ isBackground }) => isBackground) && state === 'done';
}

/** Draws a call that has started a task in the background: its state is that of the task, which has its own end. */
export function backgroundStartLine(
  call: CallEntry,
  { pen, width, tasksKey }: DelegationStyle,
): string {
  const [sign, role] = signOf(delegationStates(call));
  const head = `${pen.paint(role, sign)} ${pen.prose('strong', call.tool)} ${pen.exact('text', call.subject)}`;
  const ids = (call.tasks ?? []).map(({ id }) => id.slice(0, 6)).join(', ');
  const isOpen = call.tasks?.some(({ status }) => status === null) === true;
  const how = isOpen ? `: ${[tasksKey, '/tasks'].filter((each) => each !== '').join(', ')}` : '';
  const end = `${isOpen ? 'in' : 'was in'} the background, ${ids}${how}`;
  return joinEnds(head, pen.prose('dim', end), Math.min(width, MAX_WIDTH));
}

/** Draws the end of a task in the background. */
export function childEndLine(child: ChildEntry, { pen, width }: DelegationStyle): string {
  const [sign, role] = signOf(
    delegationStates({ ...EMPTY_CALL, tasks: [{ ...child, isBackground: true }] }),
  );
  const name = child.subject === '' ? `task ${child.id.slice(0, 6)}` : child.subject;
  const how = child.isAgain ? 'again, in the background' : 'in the background';
  const head = `${pen.paint(role, sign)} ${pen.prose('strong', name)} ${pen.prose(role, child.status)} ${pen.prose('dim', how)}`;
  const used =
    child.tokens === 0 ? [] : [`${shortTokens(child.tokens)} tok`, shortCost(child.costUsd)];
  const end = [child.id.slice(0, 6), ...used].join(', ');
  return joinEnds(head, pen.prose('dim', end), Math.min(width, MAX_WIDTH));
}

const EMPTY_CALL: CallEntry = {
  kind: 'call',
  callId: '',
  tool: 'Task',
  subject: '',
  state: 'done',
  startedAt: null,
  ms: null,
  edits: [],
  formerContent: null,
  output: '',
  outputLines: 0,
  tail: [],
  exitCode: null,
  document: null,
  todos: null,
  answer: null,
};
