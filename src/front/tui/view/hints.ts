import { plural } from '../../../base/text.ts';
import { transcriptInView, type AppState, type Search } from '../model/app-state.ts';
import type { Action, Bindings } from '../model/key-bindings.ts';
import { keyHint, keysOf } from '../model/key-names.ts';
import { findForegroundTasks, isCutOff, rootRow } from '../model/task-tree.ts';
import { questionWithChoices } from '../model/similar-questions.ts';
import { hasEnded } from '../model/task-row.ts';
import { hasWaitingMessages } from '../model/transcript.ts';

/** The number of uses after which a hint is no longer new to the user. */
const MAX_HINT_USES = 5;

/** Lists the keys that can be used now, the most important first. Hints that the user knows are left out. */
export function keyHints(state: AppState, bindings: Bindings): readonly string[] {
  const hints = currentHints(state, bindings, (action, text) =>
    isHintNew(state, hintName(action, text)) ? keyHint(bindings, action, text) : [],
  ).filter((text) => text !== HELP_COMMAND || isHintNew(state, HELP_HINT));
  return state.conversation.isWatched ? ['watching', ...hints] : hints;
}

/** The names of the hints to type a command, which are the names of the commands. */
const HELP_HINT = 'help';
export const RESUME_HINT = 'resume';
export const COMMAND_HINTS: readonly string[] = [HELP_HINT, RESUME_HINT];
const HELP_COMMAND = '/help';

function hintName(action: Action, text: string): string {
  return `${action}: ${text}`;
}

/** Whether a hint is shown: the user wants hints, and has used this one only a few times. */
export function isHintNew({ terminal, hintUses }: AppState, name: string): boolean {
  return terminal.hints && (hintUses.get(name) ?? 0) < MAX_HINT_USES;
}

/** Returns the names of the hints about an action that are shown now because they are new to the user. */
export function newHintsAbout(
  action: Action,
  state: AppState,
  bindings: Bindings,
): readonly string[] {
  const names: string[] = [];
  currentHints(state, bindings, (each, text) => {
    const name = hintName(each, text);
    if (each === action && isHintNew(state, name)) names.push(name);
    return [];
  });
  return names;
}

function currentHints(state: AppState, bindings: Bindings, hint: HintMaker): readonly string[] {
  const { tree, writing, focus, search, openTask } = state;
  const [send = ''] = keysOf(bindings, 'send');
  const back = hint('interrupt', 'back');
  if (writing.kind === 'reason') return [`why not? ${send} sends it`, ...back];
  if (writing.kind === 'answer') return [`your answer: ${send} sends it`, ...back];
  if (writing.kind === 'plan') return [`${send} approves the plan as edited`, ...back];
  if (search !== null) return searchHints(search, hint);
  if (focus === 'entries') {
    const view = hint('view-entry', 'shows all');
    return [...view, ...hint('unfold-entry', 'unfolds'), ...hint('search-here', 'search'), ...back];
  }
  if (focus === 'tasks') return [...hint('open-task', 'open'), ...treeHints(state, hint, back)];
  if (focus === 'question') {
    return [...hint('ask-enter', 'gives the marked answer'), ...hint('interrupt', 'later')];
  }
  if (state.anchor !== null) return [...hint('to-end', 'to the end'), ...hint('page-down', 'down')];
  const isStarting = state.conversation.isAtWork && tree.root === null;
  const task = openTask ?? tree.root;
  const isAtWork = isStarting || (task !== null && tree.rows.get(task)?.endedAt === null);
  if (openTask !== null) {
    return [...hint('back', 'back'), ...(isAtWork ? hint('stop-focused', 'stops it') : [])];
  }
  if (tree.questions.size > 0) {
    if (state.chosenAnswer !== null && questionWithChoices(state) !== undefined) {
      return hint('ask-enter', 'gives the marked answer');
    }
    // The box of the question says how to answer while something is typed.
    const isTold = state.typed !== '' || state.shownQuestion?.isDirect === true;
    return isTold ? [] : hint('focus-question', 'answers');
  }
  if (state.awaitedServers.length > 0) {
    const waits = `waits for ${state.awaitedServers.join(', ')}`;
    return [waits, ...hint('interrupt', 'goes on without')];
  }
  if (state.isShellRunning) return hint('leave', 'stops the command');
  if (!isAtWork) {
    return [...continueHint(state, send), HELP_COMMAND, ...hint('cycle-mode', 'mode')];
  }
  const canDetach = findForegroundTasks(tree, null).length > 0;
  const background = canDetach ? hint('background', 'background') : [];
  if (hasWaitingMessages(transcriptInView(state))) {
    return [...hint('take-back', 'takes your message back'), ...hint('focus-tasks', 'tasks')];
  }
  return [...hint('interrupt', 'stop'), ...hint('focus-tasks', 'tasks'), ...background];
}

/** Lists the keys for the selected task beside the one that opens it. Most of them need a task at work. */
function treeHints(
  { tree, chosenTask }: AppState,
  hint: HintMaker,
  back: readonly string[],
): readonly string[] {
  const row = tree.rows.get(chosenTask ?? '');
  if (row === undefined || hasEnded(row)) return [...back, ...hint('resume-task', 'resume')];
  const detach = tree.background.has(row.id) ? [] : hint('background-task', 'background');
  return [...hint('stop-task', 'stop'), ...back, ...detach];
}

function continueHint({ tree }: AppState, send: string): readonly string[] {
  if (!isCutOff(tree)) return [];
  const asks = rootRow(tree)?.status === 'parked';
  return [asks ? `${send} continues: it has a question` : `${send} continues where it was cut off`];
}

type HintMaker = (action: Action, text: string) => readonly string[];

function searchHints(
  { pattern, matches, isComplete, current }: Search,
  hint: HintMaker,
): readonly string[] {
  const back = hint('interrupt', 'back');
  if (pattern === null) return ['search: type what to find', ...back];
  if (matches.length === 0) {
    return isComplete
      ? ['search: nothing found', ...back]
      : ['search: not near the end', ...hint('search-next', 'searches all'), ...back];
  }
  const total = matches.reduce((sum, { count }) => sum + count, 0);
  const entries = plural(matches.length, 'entry', 'entries');
  const position = matches.findIndex(({ key }) => key === current?.key) + 1;
  const found = position === 0 ? entries : `${position} of ${entries}`;
  return [
    `search: ${found}${isComplete ? '' : ' near the end'}`,
    plural(total, 'match', 'matches'),
    ...hint('search-next', 'next'),
    ...hint('search-previous', 'previous'),
    ...back,
  ];
}
