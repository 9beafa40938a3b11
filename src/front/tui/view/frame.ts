import { transcriptInView, type AppState, type Search } from '../model/app-state.ts';
import type { Bindings, Action } from '../model/key-bindings.ts';
import { keysOf, keyHint } from '../model/key-names.ts';
import {
  rootRow,
  isCutOff,
  currentRows,
  treeRows,
  totalUse,
  type TaskTreeRow,
} from '../model/task-tree.ts';
import type { LibraryInfo } from '../model/ui-library.ts';
import { conversationParts } from './conversation-parts.ts';
import { drawDialog } from './dialog-view.ts';
import { joinEnds, joinFittingFacts, fitLine, SEPARATOR, visibleWidth } from './fit.ts';
import type { Pen } from './pen.ts';
import { questionBox, type QuestionBox } from './question-box.ts';
import { mainModel, startScreen } from './start-screen.ts';
import { taskPane } from './task-pane.ts';
import type { TextRole } from './theme.ts';
import { shortCost, shortTokens } from './numbers.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import { viewAt, type Parts } from './viewport.ts';
import { plural } from '../../../base/text.ts';

/** Everything that drawing needs besides the state. */
export interface ViewContext {
  readonly library: LibraryInfo;
  readonly bindings: Bindings;
  readonly pen: Pen;
  /** Milliseconds of the monotonic clock. */
  readonly now: () => number;
}

const MIN_CONVERSATION = 2;
const MIN_QUESTION = 4;
/** The number of lines of the tree beside a focused question, and the number of lines that must be free to show both. */
const TREE_BESIDE_QUESTION = 3;
const MIN_LINES_FOR_TREE = 12;
/** The minimum height of a terminal for an empty line below the conversation. */
const MIN_HEIGHT_FOR_GAP = 20;

/** Draws all lines of the terminal: exactly as many as its height, none wider than its width. `editor` is the drawn editor. */
export function drawFrame(
  state: AppState,
  editor: readonly string[],
  context: ViewContext,
): readonly string[] {
  const { width, height } = state.size;
  const { pen } = context;
  if (state.dialog !== null) return drawDialog(state.dialog, state.size, pen);
  const layout = frameLayout(state, context);
  const { lines } = viewAt(partsInView(state, context), state.anchor, layout.conversation);
  const heading = formatHeading(state, context.bindings);
  const chosen = state.focus === 'tasks' ? state.chosenTask : null;
  const pane = { width, height: layout.pane, now: context.now(), chosen };
  const all = [
    ...(heading === null ? [] : [fitLine(pen.prose('strong', heading), width)]),
    ...lines,
    ...emptyLines(layout.conversation - lines.length + layout.gap),
    ...layout.question.lines,
    ...taskPane(rowsInView(state), pane, pen),
    ...editor.slice(0, layout.editor),
    statusLine(state, context),
  ];
  return all.slice(0, height).map((line) => fitLine(line, width));
}

function emptyLines(count: number): readonly string[] {
  return Array<string>(Math.max(0, count)).fill('');
}

/** Returns the conversation in view as parts, which are drawn only when they are needed. */
export function partsInView(state: AppState, { library, pen }: ViewContext): Parts {
  const { isExpanded, thinking, toggled, search, notices, sandbox, size } = state;
  const { width } = size;
  const transcript = transcriptInView(state);
  const above =
    transcript === state.tree.main ? startScreen({ library, sandbox, notices }, width, pen) : [];
  const chosen = state.focus === 'entries' ? state.chosenEntry : null;
  return conversationParts(transcript, {
    pen,
    width,
    isExpanded,
    thinking,
    toggled,
    chosen,
    above,
    search,
  });
}

/** Returns the rows that the pane shows: all rows while the tree has the focus, otherwise the current ones. */
function rowsInView({ tree, focus }: AppState): readonly TaskTreeRow[] {
  return focus === 'tasks' ? treeRows(tree) : currentRows(tree);
}

/** Formats the heading of the open task; returns null if the conversation is in view. */
function formatHeading({ tree, openTask }: AppState, bindings: Bindings): string | null {
  const row = openTask === null ? undefined : tree.rows.get(openTask);
  if (row === undefined) return null;
  const key = keysOf(bindings, 'back')[0] ?? '←';
  return `${key} ${row.agent} ${row.id.slice(0, 6)}: ${row.description}`;
}

/** Draws the status line: the mode, the use and the model, and at its end a message or the keys that can be used now. */
function statusLine(state: AppState, { library, bindings, pen }: ViewContext): string {
  const { tree, chosenMode, hint, armed } = state;
  const { width } = state.size;
  const root = rootRow(tree);
  const mode = root?.mode ?? chosenMode ?? library.mode;
  const nextMode = root === undefined ? null : chosenMode;
  const isSame = nextMode === null || nextMode === mode;
  const modeText = isSame ? mode : `${mode} → ${nextMode} next`;
  const modeWidth = visibleWidth(modeText);
  const isUrgent = hint !== null || armed !== null;
  const hints = hint === null ? keyHints(state, bindings) : [hint];
  const room = width - modeWidth - 4;
  // A message that does not fit is cut; a key that does not fit is left out.
  const end = isUrgent ? fitLine(hints.join(SEPARATOR), room) : joinFittingFacts(hints, room);
  const { turns, tokens, costUsd } = totalUse(tree.rows.values());
  const used = turns === 0 ? [] : [`${shortTokens(tokens)} tok ${shortCost(costUsd)}`];
  const model = root?.model ?? mainModel(library).name;
  const reserved = visibleWidth(end) + modeWidth + 6;
  const rest = joinFittingFacts([...used, model], width, reserved);
  const start = `${pen.prose(MODE_ROLES[nextMode ?? mode], `[${modeText}]`)} ${pen.prose('dim', rest)}`;
  return joinEnds(start, pen.prose(isUrgent ? 'warn' : 'dim', end), width);
}

/** The colors of the modes. Wider modes have stronger colors. */
const MODE_ROLES: Readonly<Record<PermissionMode, TextRole>> = {
  plan: 'good',
  default: 'accent',
  acceptEdits: 'warn',
  autonomous: 'bad',
};

/**
 * Distributes the lines of the terminal: first to the editor and the status line, then to the question, then to the
 * tree. The conversation gets the rest. `gap` is the number of empty lines between the conversation and the parts below
 * it.
 */
export function frameLayout(state: AppState, context: ViewContext) {
  const { height, editorLines } = state.size;
  const heading = formatHeading(state, context.bindings) === null ? 0 : 1;
  const editor = Math.min(editorLines, Math.max(3, Math.floor(height / 2)));
  const room = Math.max(0, height - 1 - editor - heading);
  const question = questionBoxIn(room, state, context);
  const belowQuestion = room - question.lines.length;
  const pane = Math.min(state.paneHeight, Math.max(0, belowQuestion - MIN_CONVERSATION));
  const hasGap =
    belowQuestion > pane && height >= MIN_HEIGHT_FOR_GAP && question.lines.length + pane > 0;
  const gap = hasGap ? 1 : 0;
  return { heading, question, pane, editor, gap, conversation: belowQuestion - pane - gap };
}

/**
 * Returns the height of the tree: one line for each task, but at most a quarter of the terminal. While a task is at work,
 * the height never shrinks.
 */
export function paneHeightOf(state: AppState, isAtWork: boolean): number {
  if (!isAtWork && state.focus !== 'tasks') return 0;
  const max = Math.min(10, Math.max(2, Math.floor(state.size.height / 4)));
  return Math.min(max, Math.max(state.paneHeight, rowsInView(state).length));
}

const NO_QUESTION: QuestionBox = { lines: [], shown: 0, scroll: 0 };

/**
 * Draws the oldest or the focused question. A question without the focus gets half of the free lines. A question with
 * the focus gets all free lines except one line and a part of the tree, so that the user can read it before answering.
 */
function questionBoxIn(room: number, state: AppState, { bindings, pen }: ViewContext): QuestionBox {
  const { questions } = state.tree;
  const [oldest] = questions.values();
  const question = questions.get(state.question ?? '') ?? oldest;
  const isFocused = state.focus === 'question';
  const tree =
    room < MIN_LINES_FOR_TREE
      ? 0
      : Math.min(state.paneHeight, TREE_BESIDE_QUESTION) + MIN_CONVERSATION;
  const wanted = isFocused ? room - tree : Math.max(MIN_QUESTION, Math.floor(room / 2));
  const height = Math.min(wanted, Math.max(0, room - 1));
  if (question === undefined || height === 0) return NO_QUESTION;
  const { width } = state.size;
  const waiting = questions.size;
  const scroll = state.questionScroll;
  return questionBox(question, { width, height, isFocused, waiting, scroll, bindings }, pen);
}

/** Lists the keys that can be used now, the most important first. */
function keyHints(state: AppState, bindings: Bindings): readonly string[] {
  const hints = currentHints(state, bindings);
  return state.conversation.isWatched ? ['watching', ...hints] : hints;
}

function currentHints(state: AppState, bindings: Bindings): readonly string[] {
  const { tree, writing, focus, search, openTask } = state;
  const hint: HintMaker = (action, text) => keyHint(bindings, action, text);
  const [send = ''] = keysOf(bindings, 'send');
  const back = hint('interrupt', 'back');
  if (writing.kind === 'reason') return [`why not? ${send} sends it`, ...back];
  if (writing.kind === 'answer') return [`your answer: ${send} sends it`, ...back];
  if (writing.kind === 'plan') return [`${send} approves the plan as edited`, ...back];
  if (search !== null) return searchHints(search, hint);
  if (focus === 'entries') {
    return [...hint('unfold-entry', 'unfolds'), ...hint('search-here', 'search'), ...back];
  }
  if (focus === 'tasks') {
    const acts = [hint('stop-task', 'stop'), hint('background-task', 'background')].flat();
    return [...hint('open-task', 'open'), ...acts, ...hint('resume-task', 'resume'), ...back];
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
