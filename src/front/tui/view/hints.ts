import { plural } from '../../../base/text.ts';
import type { AppState, Search } from '../model/app-state.ts';
import type { Action, Bindings } from '../model/key-bindings.ts';
import { keyHint, keysOf } from '../model/key-names.ts';
import { isCutOff, rootRow } from '../model/task-tree.ts';

/** The keys that matter now, the most needed first. */
export function keyHints(state: AppState, bindings: Bindings): readonly string[] {
  const hints = currentHints(state, bindings);
  return state.conversation.isWatched ? ['watching', ...hints] : hints;
}

function currentHints(state: AppState, bindings: Bindings): readonly string[] {
  const { tree, writing, focus, search, openTask } = state;
  const hint = (action: Action, text: string) => keyHint(bindings, action, text);
  const [send = ''] = keysOf(bindings, 'send');
  const back = hint('interrupt', 'back');
  if (writing.kind === 'reason') return [`why not? ${send} sends it`, ...back];
  if (writing.kind === 'answer') return [`your answer: ${send} sends it`, ...back];
  if (writing.kind === 'plan') return [`${send} approves the plan as edited`, ...back];
  if (search !== null) return searchHints(search, bindings);
  if (focus === 'entries') {
    return [...hint('unfold-entry', 'unfolds'), ...hint('search-here', 'search'), ...back];
  }
  if (focus === 'tasks') {
    return [
      ...hint('open-task', 'open'),
      ...hint('stop-task', 'stop'),
      ...hint('background-task', 'background'),
      ...hint('resume-task', 'resume'),
      ...back,
    ];
  }
  if (focus === 'question') return hint('interrupt', 'later');
  if (state.anchor !== null) return [...hint('to-end', 'to the end'), ...hint('page-down', 'down')];
  const isStarting = state.conversation.isAtWork && tree.root === null;
  const task = openTask ?? tree.root;
  const isAtWork = isStarting || (task !== null && tree.rows.get(task)?.endedAt === null);
  if (openTask !== null) {
    return [...hint('back', 'back'), ...(isAtWork ? hint('interrupt', 'stops it') : [])];
  }
  if (tree.questions.size > 0) return hint('focus-question', 'answers');
  if (!isAtWork) return [...continueHint(state, send), '/help', ...hint('cycle-mode', 'mode')];
  const background = hint('background', 'background');
  return [...hint('interrupt', 'stop'), ...hint('focus-tasks', 'tasks'), ...background];
}

function continueHint({ tree }: AppState, send: string): readonly string[] {
  if (!isCutOff(tree)) return [];
  const asks = rootRow(tree)?.status === 'parked';
  return [asks ? `${send} continues: it has a question` : `${send} continues where it was cut off`];
}

function searchHints(
  { pattern, matches, isComplete, current }: Search,
  bindings: Bindings,
): readonly string[] {
  const hint = (action: Action, text: string) => keyHint(bindings, action, text);
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
