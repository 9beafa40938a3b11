import { escapeTags } from '../../base/control-tags.ts';
import { plural, truncate } from '../../base/text.ts';
import { runningShells } from '../../protocol/state/owned-work.ts';
import type { Said } from '../../protocol/state/compaction.ts';
import { estimateTokensUnrounded } from '../../base/token-estimate.ts';
import type { LaidResult } from './layout.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** How a task names one of its own events to TaskOutput: `ID#41`. */
export function ownEvent(task: string, seq: number): string {
  return `${task}#${seq}`;
}

/** What stands in the place of a result that was cleared. */
export function clearedLine(
  { characters, shown, tool }: Pick<LaidResult, 'characters' | 'shown' | 'tool'>,
  { event, isNew }: { readonly event: string | null; readonly isNew: boolean },
): string {
  const what = `${[...shown, plural(characters, 'character')].join(' and ')} of ${tool}`;
  const why = isNew
    ? `[Too large for what is left of your context window: ${what}.`
    : `[Cleared to make room in your context window: ${what}.`;
  if (event === null)
    return `${why} Call the tool again if you need it${isNew ? ', for less at a time' : ''}.]`;
  const how =
    shown.length > 0 ? 'see it again' : isNew ? 'read it piece by piece' : 'read it again';
  return `${why} To ${how}: TaskOutput(task_id: "${event}")]`;
}

const STRUCTURE = `Goal: what is to be achieved, and how one knows that it is.
Constraints: each rule, wish and limit that holds, as it was said.
Files: each path that matters, with what was read or changed there, names and lines included.
Decisions: what was decided and why, also what was tried and did not work.
Done: what is finished, with the commands that were run and what they gave.
Open: what is left to do, the next step first.`;

/** Asks for a summary of the conversation so far. `keep`: what a person wants to be kept. */
export function summaryAsk(keep: string | null): string {
  const wish = keep === null ? '' : ` The user wants this to be kept above all: ${keep}\n`;
  return `<notice>Your context window is nearly full, and what stands above will be replaced by a summary, which you write now. You go on from it alone, so leave out nothing that the work needs, and repeat no whole files or outputs.${wish} What you were told stays word for word beside it. Call no tool. Answer with the summary only, under these headings:

${STRUCTURE}</notice>`;
}

/** Texts that stand before what is kept of a conversation. `most`: tokens of what was said. */
export function headTexts(
  state: TaskState,
  upTo: number,
  { most, isSummarised }: { readonly most: number; readonly isSummarised: boolean },
): readonly string[] {
  const { conversation, spec, todos, skills } = state;
  const said = conversation.compaction.said.filter(({ at }) => at < upTo);
  const open = todos.map(({ status, content }) => `- [${status}] ${content}`);
  return [
    isSummarised ? SUMMARISED : DROPPED,
    ...saidTexts(said, most, spec.parent),
    ...(open.length === 0 ? [] : [`${TODO_LIST}\n${open.join('\n')}\n</notice>`]),
    ...atWork(state),
    ...(skills.size === 0 ? [] : [loaded([...skills])]),
    isSummarised
      ? '<notice>Your own summary follows. What it calls done is done, and what it calls decided is decided: go on with what is open, and plan nothing anew.</notice>'
      : '<notice>What you did then is left out here. Look at files before you change them, and at what is there before you do something again.</notice>',
  ];
}

/** How the todo list begins among these. */
export const TODO_LIST = '<notice>Your todo list:';

const SUMMARISED =
  '<notice>The beginning of this conversation was summarised to make room in your context window. First what you were told, word for word, the oldest first:</notice>';
const DROPPED =
  '<notice>The beginning of this conversation was taken out to make room in your context window. What you were told stays, word for word, the oldest first:</notice>';

/** Their ids stood in results which may be gone. */
function atWork(state: TaskState): readonly string[] {
  const shells = runningShells(state).map((id) => `shell ${id}`);
  const tasks = [...state.openChildren].map((id) => `task ${id}`);
  if (shells.length + tasks.length === 0) return [];
  return [
    `<notice>Running for you in the background: ${[...tasks, ...shells].join(', ')}.</notice>`,
  ];
}

function loaded(skills: readonly string[]): string {
  const names = skills.map(escapeTags).join(', ');
  return `<notice>Skills whose instructions you follow: ${names}. Load those again that you no longer see and still need.</notice>`;
}

function saidText({ as, from, text }: Said, parent: string | null): string {
  if (as === 'inherited') return `To the agent that had this conversation before you: ${text}`;
  return from === 'user' || from === parent ? text : `From ${from}: ${text}`;
}

/** Tokens: of less of a text nothing can be understood. */
const LEAST_SAID = 20;

/** Of the prompt, which says what the task is, as much is kept as of all others together. */
function saidTexts(said: readonly Said[], most: number, parent: string | null): readonly string[] {
  const prompt = said.find(({ as }) => as === 'prompt') ?? said[0];
  let left = most / 2;
  const kept = new Map<Said, string>();
  // The newest say what holds now.
  for (const each of said.toReversed()) {
    if (each === prompt) continue;
    const whole = saidText(each, parent);
    if (left < Math.min(LEAST_SAID, estimateTokensUnrounded(whole))) break;
    const text = shortened(whole, left);
    left = Math.max(0, left - estimateTokensUnrounded(text));
    kept.set(each, text);
  }
  const texts = said.flatMap((each) => {
    if (each === prompt) return [shortened(saidText(each, parent), most / 2 + left)];
    return kept.get(each) ?? [];
  });
  const gone = said.length - texts.length;
  if (gone === 0) return texts;
  return [...texts, `<notice>${plural(gone, 'older message')} to you left out here.</notice>`];
}

/** Beginning and end, since both say what matters. */
function shortened(text: string, most: number): string {
  const tokens = estimateTokensUnrounded(text);
  if (tokens <= most) return text;
  const length = Math.floor((text.length * most) / tokens / 2);
  const begin = truncate(text, length);
  const end = length === 0 ? '' : text.slice(-length).replace(/^[\udc00-\udfff]/, '');
  const left = text.length - begin.length - end.length;
  return `${begin}\n[${plural(left, 'character')} left out here to make room]\n${end}`;
}
