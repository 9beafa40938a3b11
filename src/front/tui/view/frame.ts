import { transcriptInView, type AppState } from '../model/app-state.ts';
import { answerChoices } from '../model/answer-choices.ts';
import type { Bindings, OwnAction } from '../model/key-bindings.ts';
import { keysOf } from '../model/key-names.ts';
import {
  rootRow,
  currentRows,
  findForegroundTasks,
  treeRows,
  type PendingQuestion,
  type TaskTreeRow,
} from '../model/task-tree.ts';
import {
  directQuestion,
  questionWithChoices,
  similarQuestions,
} from '../model/similar-questions.ts';
import type { LibraryInfo } from '../model/ui-library.ts';
import { conversationParts } from './conversation-parts.ts';
import { drawDialog } from './dialog-view.ts';
import { joinEnds, joinFittingFacts, fitLine, SEPARATOR, visibleWidth } from './fit.ts';
import { pagerScreen } from './pager.ts';
import type { Pen } from './pen.ts';
import { questionBox, type QuestionBox } from './question-box.ts';
import { typingFor } from './question-typing.ts';
import { startScreen } from './start-screen.ts';
import { fitStatus, fitStatusAndHints, statusFacts, type StatusParts } from './status-line.ts';
import { taskPane } from './task-pane.ts';
import type { TextRole } from './theme.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import { keyHints } from './hints.ts';
import { viewAt, type Parts } from './viewport.ts';
import { drawPicker } from './picker.ts';

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
  if (state.picker !== null) return drawPicker(state.picker, state, editor, context);
  const { width, height } = state.size;
  const { pen, bindings } = context;
  if (state.dialog !== null) return drawDialog(state.dialog, state.size, pen);
  if (state.pager !== null) {
    const typed = state.writing.kind === 'find' ? state.typed : null;
    const style = { width, height, bindings, typed, questions: state.tree.questions.size };
    return pagerScreen(state.pager, style, pen).map((line) => fitLine(line, width));
  }
  const layout = frameLayout(state, context);
  const { lines } = viewAt(partsInView(state, context), state.anchor, layout.conversation);
  const heading = formatHeading(state, context.bindings);
  const chosen = state.focus === 'tasks' ? state.chosenTask : null;
  const dropped = state.tree.droppedRows;
  const pane = { width, height: layout.pane, now: context.now(), chosen, dropped };
  const all = [
    ...(heading === null ? [] : [headingLine(heading, width, pen)]),
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
export function partsInView(state: AppState, { library, bindings, pen, now }: ViewContext): Parts {
  const { terminal, toggled, search, notices, sandbox, size, earlier } = state;
  const { detail, thinking } = terminal;
  const { width } = size;
  const transcript = transcriptInView(state);
  const above =
    transcript === state.tree.main
      ? startScreen({ library, sandbox, notices, earlier }, width, pen)
      : [];
  const chosen = state.focus === 'entries' ? state.chosenEntry : null;
  const fullTextKeys = (['focus-entries', 'view-entry'] as const)
    .flatMap((action) => keysOf(bindings, action).slice(0, 1))
    .join(' ');
  const [tasksKey = ''] = keysOf(bindings, 'focus-tasks');
  const look = { pen, width, detail, thinking, now: now(), fullTextKeys, tasksKey };
  return conversationParts(transcript, { ...look, toggled, chosen, above, search });
}

/** Returns the rows that the pane shows: all rows while the tree has the focus, otherwise the current ones. */
function rowsInView({ tree, focus }: AppState): readonly TaskTreeRow[] {
  return focus === 'tasks' ? treeRows(tree) : currentRows(tree);
}

/** The heading of an open task: its name and its terms. */
interface TaskHeading {
  readonly name: string;
  readonly terms: string;
}

/** Formats the heading of the open task; returns null if the conversation is in view. */
function formatHeading({ tree, openTask }: AppState, bindings: Bindings): TaskHeading | null {
  const row = openTask === null ? undefined : tree.rows.get(openTask);
  if (row === undefined) return null;
  const key = keysOf(bindings, 'back')[0] ?? '←';
  return {
    name: `${key} ${row.agent} ${row.id.slice(0, 6)}: ${row.description}`,
    terms: `${row.mode}${SEPARATOR}${row.model}`,
  };
}

/** Draws the heading of an open task. Its mode and model are left out if there is no room for them. */
function headingLine({ name, terms }: TaskHeading, width: number, pen: Pen): string {
  const left = pen.prose('strong', name);
  const right = pen.prose('dim', terms);
  const isRoomy = visibleWidth(left) + visibleWidth(right) + 2 <= width;
  return joinEnds(left, isRoomy ? right : '', width);
}

/**
 * Draws the status line: facts about the conversation with the mode at their end, and at the end of the line a message
 * or the keys that can be used now. The mode and a message are never left out.
 */
function statusLine(state: AppState, context: ViewContext): string {
  const { library, pen } = context;
  const { tree, chosenMode, hint, armed } = state;
  const { width } = state.size;
  const root = rootRow(tree);
  const mode = root?.mode ?? chosenMode ?? library.mode;
  const nextMode = state.pendingMode?.mode ?? (root === undefined ? null : chosenMode);
  const isSame = nextMode === null || nextMode === mode;
  const when = state.pendingMode === null ? ' next' : '';
  const modeText = isSame ? mode : `${mode} → ${nextMode}${when}`;
  const modeWidth = visibleWidth(modeText);
  const isUrgent = hint !== null || armed !== null;
  const hints = hint === null ? keyHints(state, context.bindings) : [hint];
  const known = statusFacts(state, library);
  const room = width - modeWidth - 4;
  const roomForFacts = room - SEPARATOR.length;
  const isRoomy = (state.focus === 'editor' || state.focus === 'tasks') && state.search === null;
  let parts: StatusParts;
  if (isRoomy && !isUrgent) {
    parts = fitStatusAndHints(known, hints, roomForFacts, minHints(state));
    // In the tree, two keys come before all facts, because it has no other sign of what can be done there.
    const least = state.focus === 'tasks' ? joinFittingFacts(hints.slice(0, 2), room) : '';
    if (visibleWidth(parts.hints) < visibleWidth(least)) {
      parts = { facts: fitStatus(known, roomForFacts - visibleWidth(least)), hints: least };
    }
  } else {
    // A message that does not fit is cut; a key that does not fit is left out.
    const end = isUrgent ? fitLine(hints.join(SEPARATOR), room) : joinFittingFacts(hints, room);
    parts = { facts: fitStatus(known, roomForFacts - visibleWidth(end)), hints: end };
  }
  const { facts, hints: end } = parts;
  const start = [
    ...(facts === '' ? [] : [pen.prose('dim', `${facts}${SEPARATOR}`)]),
    pen.prose(MODE_ROLES[nextMode ?? mode], `[${modeText}]`),
  ].join('');
  return joinEnds(start, pen.prose(isUrgent ? 'warn' : 'dim', end), width);
}

/**
 * Returns the number of hints for which facts are left out. A user who sees children for the first time has to find how
 * to open one, and then how to leave it and how to stop it.
 */
function minHints({ tree, openTask, focus }: AppState): number {
  if (openTask !== null || focus === 'tasks') return 2;
  const isAtWork = rootRow(tree)?.endedAt === null;
  return isAtWork && findForegroundTasks(tree, null).length > 0 ? 2 : 1;
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
 * Returns the height of the tree: one line for each task, but at most a quarter of the terminal, or half of it while the
 * tree has the focus. While a task is at work, the height does not shrink.
 */
export function paneHeightOf(state: AppState, isAtWork: boolean): number {
  if (!isAtWork && state.focus !== 'tasks') return 0;
  const { height } = state.size;
  const max =
    state.focus === 'tasks'
      ? Math.min(20, Math.max(3, Math.floor(height / 2)))
      : Math.min(10, Math.max(2, Math.floor(height / 4)));
  return Math.min(max, Math.max(state.paneHeight, rowsInView(state).length));
}

/**
 * Returns the answer that Enter gives to a question that has the focus, for which Enter was pressed before, or of which
 * the arrow keys have marked an answer.
 */
function chosenAnswer(
  question: PendingQuestion,
  state: AppState,
  { bindings }: ViewContext,
): OwnAction | null {
  if (state.focus !== 'question') {
    if (state.enterAnswers?.question === question.id) return 'answer-once';
    return questionWithChoices(state) === question ? state.chosenAnswer : null;
  }
  const hasSimilar = similarQuestions(state, question).length > 1;
  const choices = answerChoices(question, { hasSimilar, bindings });
  return choices.find((each) => each === state.chosenAnswer) ?? choices[0] ?? null;
}

const NO_QUESTION: QuestionBox = {
  lines: [],
  shown: 0,
  scroll: 0,
  chosenLines: null,
  isDirect: false,
};

/**
 * Draws the oldest or the focused question. A question without the focus gets half of the free lines. A question with
 * the focus gets all free lines except one line and a part of the tree, so that the user can read it before answering.
 */
function questionBoxIn(room: number, state: AppState, context: ViewContext): QuestionBox {
  const { bindings, pen, library } = context;
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
  const similar = similarQuestions(state, question).filter(
    (each) => each !== question && state.answersAlike?.has(each.id) !== false,
  );
  const style = { width, height, isFocused, waiting, scroll, bindings, cwd: library.cwd };
  const isFree = state.typed === '' || state.heldAnswer !== null;
  const isDirect = isFree && directQuestion(state) === question;
  return questionBox(
    question,
    {
      ...style,
      isDirect,
      similar,
      isForSimilar: isFocused && state.answersAlike !== null,
      typing: typingFor(state, question),
      chosen: chosenAnswer(question, state, context),
      proposal: state.proposal?.question === question.id ? state.proposal.change : null,
    },
    pen,
  );
}
