import type { ListedModels, TaskEvent, TaskSummary } from '../../../api/index.ts';
import { titleOf } from '../../../base/title.ts';
import { formatAge, plural } from '../../../base/text.ts';
import type { AgentDefinition } from '../../../protocol/agent.ts';
import { EFFORTS, type Effort } from '../../../protocol/model.ts';
import { isForChat, type ListedModel } from '../../../protocol/listed-model.ts';
import { formatTools } from '../../../report/agent-tools.ts';
import type { PickerItem, PreviewPart } from '../model/picker.ts';
import { treeRows, type DisplayedTree, type TaskTreeRow } from '../model/task-tree.ts';
import type { LibraryInfo } from '../model/ui-library.ts';
import { shortCost, shortTime, shortTokens } from '../view/numbers.ts';
import { activityLine, idleStatusSign, statusSign } from '../view/task-pane.ts';

/** The agents, each with its source and what its file says. */
export function agentItems({
  agents: { agents },
}: Pick<LibraryInfo, 'agents'>): readonly PickerItem[] {
  return agents.map((agent) => ({
    id: agent.name,
    title: agent.name,
    cells: [agent.origin.scope],
    searched: agent.description,
    preview: agentPreview(agent),
  }));
}

function agentPreview(agent: AgentDefinition): readonly PreviewPart[] {
  const { description, model, effort, mode, origin, unusable } = agent;
  const facts = [
    `tools  ${formatTools(agent)}`,
    `model  ${model ?? 'that of the task that calls it'}${effort === undefined ? '' : `, effort ${effort}`}`,
    `mode   ${mode ?? 'that of the task that calls it'}`,
    `file   ${origin.path}`,
    ...(unusable === undefined ? [] : [`cannot be started: ${unusable}`]),
  ];
  return [
    { label: '', text: description },
    { label: 'settings', text: facts.join('\n') },
  ];
}

/** The tasks of the conversation, in the order of the tree. */
export function taskItems(tree: DisplayedTree, now: number): readonly PickerItem[] {
  return treeRows(tree).map((each) => taskItem(each, now));
}

function taskItem({ row, level, isBackground }: TaskTreeRow, now: number): PickerItem {
  const about = row.description === '' ? row.agent : `${row.agent}: ${row.description}`;
  const activity = activityLine(row, now);
  const use = `${plural(row.turns, 'turn')}, ${shortTokens(row.tokens)} tokens, ${shortCost(row.costUsd)}, ${shortTime((row.endedAt ?? now) - row.since)}`;
  return {
    id: row.id,
    title: about,
    sign: `${'  '.repeat(Math.min(level, 6))}${statusSign(row).sign}`,
    ...(isBackground ? { mark: 'background' } : {}),
    cells: [
      row.id.slice(0, 8),
      shortTime((row.endedAt ?? now) - row.since),
      row.costUsd === 0 ? '' : shortCost(row.costUsd),
    ],
    searched: `${row.status} ${activity}`,
    preview: [
      { label: '', text: `${about}\n${activity}` },
      { label: 'use', text: `${use}\nmodel ${row.model}, mode ${row.mode}` },
      ...(row.lastLine === '' ? [] : [{ label: 'last text', text: row.lastLine }]),
    ],
  };
}

interface ConversationOptions {
  readonly cwd: string;
  /** The id of the conversation that is open. */
  readonly current: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const MAX_DIRECTORY = 30;

/** The conversations of all directories, the one that was active last first. `tasks` are all tasks in the logs. */
export function conversationItems(
  tasks: readonly TaskSummary[],
  { cwd, current, now }: ConversationOptions,
): readonly PickerItem[] {
  const costs = new Map<string, number | null>();
  for (const { root, costUsd } of tasks) {
    const sum = costs.get(root) ?? (costs.has(root) ? null : 0);
    costs.set(root, sum === null || costUsd === null ? null : sum + costUsd);
  }
  return tasks
    .filter(({ parent, source }) => parent === null && source !== 'template')
    .toSorted((a, b) => lastTime(b) - lastTime(a))
    .map((task) => conversationItem(task, costs.get(task.id) ?? null, { cwd, current, now }));
}

function conversationItem(
  task: TaskSummary,
  costUsd: number | null,
  { cwd, current, now }: ConversationOptions,
): PickerItem {
  const { id, status, turns, description } = task;
  return {
    id,
    title: titleOf(description) || '(no title)',
    sign: idleStatusSign(status),
    ...(id === current ? { mark: 'this one' } : {}),
    cells: [
      formatAge(now - lastTime(task)),
      shortCost(costUsd),
      plural(turns, 'turn'),
      shortDirectory(task.cwd),
    ],
    searched: `${id} ${task.agent} ${task.model} ${status} ${task.cwd}`,
    ...(task.cwd === cwd ? {} : { isElsewhere: true }),
  };
}

/** Returns the time at which a task ended, or at which it was created if it has not ended. */
function lastTime({ ended, created }: TaskSummary): number {
  return ended ?? created;
}

/** Cuts a directory at its beginning, because its end says more. */
function shortDirectory(path: string): string {
  return path.length <= MAX_DIRECTORY ? path : `…${path.slice(1 - MAX_DIRECTORY)}`;
}

/** Removes the marks of headings, because previews are not drawn as markdown. */
function withoutHeadingMarks(text: string): string {
  return text.replaceAll(/^#{1,6} +/gm, '');
}

/** Collects the preview of a conversation from its events: its first and its last message, and the last answer. */
export class ConversationPreview {
  private first: string | null = null;
  private last: string | null = null;
  /** The messages that no request contains yet. The user can take them back. */
  private waiting: readonly { readonly id: string; readonly text: string }[] = [];
  private answer: string | null = null;
  private facts = '';

  add(event: TaskEvent): void {
    if (event.type === 'task.created') {
      const { spec } = event;
      if (spec.prompt !== '') this.first = spec.prompt;
      this.facts = `${spec.agent.name} · ${spec.cwd}`;
    } else if (event.type === 'input.queued') {
      const { id, kind, from, text } = event.input;
      if (kind === 'message' && from === 'user') this.waiting = [...this.waiting, { id, text }];
    } else if (event.type === 'input.withdrawn') {
      this.waiting = this.waiting.filter(({ id }) => !event.ids.includes(id));
    } else if (event.type === 'turn.started') {
      const isSent = ({ id }: { readonly id: string }): boolean => event.inputs.includes(id);
      this.last = this.waiting.findLast(isSent)?.text ?? this.last;
      this.waiting = this.waiting.filter((each) => !isSent(each));
    } else if (event.type === 'turn.ended') {
      const text = event.message.content.flatMap((part) => (part.type === 'text' ? part.text : []));
      if (text.join('').trim() !== '') this.answer = withoutHeadingMarks(text.join('\n'));
    }
  }

  parts(): readonly PreviewPart[] {
    const last = this.waiting.at(-1)?.text ?? this.last;
    const shown: readonly (readonly [string, string | null])[] = [
      ['first message', this.first],
      ['last message', last === this.first ? null : last],
      ['last answer', this.answer],
    ];
    return [
      { label: '', text: this.facts },
      ...shown.flatMap(([label, text]) =>
        text === null ? [] : [{ label, text: text.trim().slice(0, MAX_PREVIEWED) }],
      ),
    ];
  }
}

/** The maximum number of characters of a message in a preview. */
const MAX_PREVIEWED = 700;

/** The models of all providers that can answer a conversation. `current` is the model in use, as `provider/id`. */
export function modelItems(
  lists: readonly ListedModels[],
  current: string | null,
): readonly PickerItem[] {
  return lists.flatMap(({ provider, models }) =>
    models.filter(isForChat).map((model) => modelItem(`${provider}/${model.id}`, model, current)),
  );
}

function modelItem(name: string, model: ListedModel, current: string | null): PickerItem {
  const { contextWindow, outputLimit, price, tools, images, reasoning, efforts, loaded } = model;
  const window = contextWindow === null ? '' : shortTokens(contextWindow).replace('.0', '');
  const cost =
    price === null
      ? ''
      : price.input === 0 && price.output === 0
        ? 'free'
        : `$${rate(price.input)}/${rate(price.output)}`;
  const effort = efforts === null || reasoning === false ? '' : efforts.join(' ');
  const say = (flag: boolean | null): string => (flag === null ? 'not known' : flag ? 'yes' : 'no');
  const facts = [
    `window  ${contextWindow === null ? 'not known' : `${shortTokens(contextWindow)} tokens`}`,
    `output  ${outputLimit === null ? 'not known' : `${shortTokens(outputLimit)} tokens`}`,
    `price   ${price === null ? 'not known' : `$${rate(price.input)} in, $${rate(price.output)} out, for a million tokens`}`,
    `tools   ${say(tools)}`,
    `images  ${say(images)}`,
    `effort  ${effort === '' ? say(reasoning) : effort}`,
    ...(loaded === null ? [] : [`loaded  ${say(loaded)}`]),
  ];
  const offered = reasoning === false ? [] : EFFORTS.filter((each) => efforts?.includes(each));
  return {
    id: name,
    title: name,
    ...(offered.length === 0 ? {} : { efforts: offered }),
    ...(name === current ? { mark: 'in use' } : {}),
    cells: [window, cost, effort],
    preview: [
      { label: '', text: name },
      { label: 'facts', text: facts.join('\n') },
    ],
  };
}

function rate(usd: number): string {
  return usd > 0 && usd < 0.001 ? '<0.001' : String(Number(usd.toPrecision(3)));
}

/** The word for the effort that a model has by itself. */
export const DEFAULT_EFFORT = 'default';

/** The efforts of a model, after the one that it has by itself. `current` is the one in use. */
export function effortItems(
  efforts: readonly Effort[],
  current: string | null,
): readonly PickerItem[] {
  const inUse = current ?? DEFAULT_EFFORT;
  const own = effortItem(DEFAULT_EFFORT, inUse, 'as much as the model thinks by itself');
  return [own, ...efforts.map((effort) => effortItem(effort, inUse, `effort ${effort}`))];
}

function effortItem(effort: string, inUse: string, text: string): PickerItem {
  const item: PickerItem = { id: effort, title: effort, cells: [], preview: [{ label: '', text }] };
  return effort === inUse ? { ...item, mark: 'in use' } : item;
}

/** A message of the user, and the number of the last event before it. */
export interface UserPrompt {
  readonly text: string;
  readonly before: number | null;
  /** Milliseconds since the epoch. */
  readonly sent: number;
}

/** The messages of a conversation, the newest first. */
export function messageItems(messages: readonly UserPrompt[], now: number): readonly PickerItem[] {
  return messages
    .map((message, index) => messageItem(message, { now, isLast: index === messages.length - 1 }))
    .toReversed();
}

function messageItem(
  { text, before, sent }: UserPrompt,
  { now, isLast }: { readonly now: number; readonly isLast: boolean },
): PickerItem {
  return {
    id: before === null ? FIRST_MESSAGE : String(before),
    title: text.trim().split('\n')[0] ?? '',
    ...(isLast ? { mark: 'the last one' } : {}),
    cells: [formatAge(now - sent)],
    searched: text,
    text,
    preview: [{ label: 'message', text }],
  };
}

/** The id of the item for the message with which a conversation starts. */
const FIRST_MESSAGE = 'first';

/** Returns the number of the last event before the message of an item; null if the conversation starts with it. */
export function eventBefore({ id }: Pick<PickerItem, 'id'>): number | null {
  return id === FIRST_MESSAGE ? null : Number(id);
}

/** The parts of a conversation that can go back. The ids are those of `UndoScope`. */
export const UNDO_SCOPES: readonly PickerItem[] = [
  scopeItem(
    'both',
    'Files and conversation',
    'The conversation goes back to before the message, and the files that it has changed since are put back.',
  ),
  scopeItem(
    'conversation',
    'Only the conversation',
    'The conversation goes back to before the message. All files stay as they are.',
  ),
  scopeItem(
    'files',
    'Only the files',
    'The files that were changed since the message are put back. The conversation stays as it is, and the model is not told.',
  ),
];

function scopeItem(id: string, title: string, text: string): PickerItem {
  return { id, title, cells: [], preview: [{ label: '', text }] };
}

/** The messages that were typed in this directory and in the others, the newest first, each once. */
export function historyItems(
  here: readonly string[],
  elsewhere: readonly string[],
): readonly PickerItem[] {
  const seen = new Set<string>();
  const items: PickerItem[] = [];
  const add = (text: string, isElsewhere: boolean): void => {
    if (text.trim() === '' || seen.has(text)) return;
    seen.add(text);
    const title = text.trim().replaceAll(/\s*\n\s*/g, ' ⏎ ');
    const where = isElsewhere ? { isElsewhere: true as const } : {};
    items.push({ id: text, title, text, cells: [], preview: [{ label: '', text }], ...where });
  };
  for (const text of here.toReversed()) add(text, false);
  for (const text of elsewhere.toReversed()) add(text, true);
  return items;
}
