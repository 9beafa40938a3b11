import type { Bindings } from '../model/key-bindings.ts';
import type { Look } from '../model/view-state.ts';
import type { TreeRow } from '../model/tree-rows.ts';
import type { Asked } from '../model/asked.ts';
import { fit } from './fit.ts';
import type { LineCache } from './line-cache.ts';
import type { Pen } from './pen.ts';
import { questionBox, type QuestionBox } from './question-box.ts';
import { statusLine, type StatusFacts } from './status-line.ts';
import { taskPane } from './task-pane.ts';
import { viewAt, type Parts } from './viewport.ts';

/** All that one picture of the terminal shows. */
export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly now: number;
  readonly look: Look;
  /** Above the conversation: which task is looked into; null: none. */
  readonly heading: string | null;
  readonly parts: Parts;
  readonly questions: readonly Asked[];
  readonly tasks: readonly TreeRow[];
  readonly status: StatusFacts;
  readonly bindings: Bindings;
  /** As the editor draws itself, no wider than the terminal. */
  readonly editor: readonly string[];
}

/** How many lines each part of a picture has, from the top. */
export interface Layout {
  readonly heading: number;
  readonly conversation: number;
  /** Empty, between the conversation and what stands below it. */
  readonly gap: number;
  readonly question: number;
  readonly pane: number;
  readonly editor: number;
}

const LEAST_CONVERSATION = 2;
const LEAST_QUESTION = 4;
/** Of the tree, beside a question that is read; nothing of it where there are fewer lines for both. */
const LEAST_TREE = 3;
const LEAST_FOR_TREE = 12;
/** On a smaller terminal each line is needed. */
const LEAST_HEIGHT_FOR_GAP = 20;

/** What the editor, the status line and the heading leave of a terminal. */
function roomOf({ height, heading, editor }: Pick<Scene, 'height' | 'heading' | 'editor'>): {
  readonly editor: number;
  readonly left: number;
} {
  const lines = Math.min(editor.length, Math.max(3, Math.floor(height / 2)));
  return { editor: lines, left: Math.max(0, height - 1 - lines - (heading === null ? 0 : 1)) };
}

/** The lines of a terminal shared out: the editor and the status line first, then who asks, then who works. */
function layoutOf(
  scene: Pick<Scene, 'height' | 'heading' | 'editor'>,
  { question, pane }: { readonly question: number; readonly pane: number },
): Layout {
  const { editor, left: all } = roomOf(scene);
  const left = all - question;
  const shownPane = Math.min(pane, Math.max(0, left - LEAST_CONVERSATION));
  const gap = left > shownPane && scene.height >= LEAST_HEIGHT_FOR_GAP && question + shownPane > 0;
  const conversation = left - shownPane - (gap ? 1 : 0);
  const heading = scene.heading === null ? 0 : 1;
  return { heading, question, pane: shownPane, editor, gap: gap ? 1 : 0, conversation };
}

/** Lines of the tree: as many as it has tasks, within a quarter of the terminal, and never fewer than before. */
export function paneHeight(
  before: number,
  {
    tasks,
    height,
    isAtWork,
  }: { readonly tasks: number; readonly height: number; readonly isAtWork: boolean },
): number {
  if (!isAtWork) return 0;
  const most = Math.min(10, Math.max(2, Math.floor(height / 4)));
  return Math.min(most, Math.max(before, tasks));
}

export interface Picture {
  /** Exactly as many as the terminal has. */
  readonly lines: readonly string[];
  readonly layout: Layout;
  readonly asked: QuestionBox;
}

/** The whole terminal, line by line. Pure. */
export function picture(
  scene: Scene,
  tools: { readonly pen: Pen; readonly cache: LineCache },
): Picture {
  const { width, look, now, height } = scene;
  const { pen } = tools;
  const asked = askedBox(scene, tools);
  const layout = layoutOf(scene, { question: asked.lines.length, pane: look.paneHeight });
  const { lines } = viewAt(scene.parts, look.anchor, layout.conversation);
  const above = Array<string>(Math.max(0, layout.conversation - lines.length)).fill('');
  const chosen = look.focus === 'tasks' ? look.chosenTask : null;
  const all = [
    ...(scene.heading === null ? [] : [fit(pen.prose('strong', scene.heading), width)]),
    ...lines,
    ...above,
    ...Array<string>(layout.gap).fill(''),
    ...asked.lines,
    ...taskPane(scene.tasks, { width, height: layout.pane, now, chosen }, pen),
    ...scene.editor.slice(0, layout.editor),
    statusLine(scene.status, width, pen),
  ];
  return { lines: all.slice(0, height).map((line) => fit(line, width)), layout, asked };
}

const NOTHING_ASKED: QuestionBox = { lines: [], shown: 0, scroll: 0 };

/** Half of what there is; once keys are for it all but a line, and some of the tree: it is read before it is answered. */
function askedBox(
  scene: Scene,
  tools: { readonly pen: Pen; readonly cache: LineCache },
): QuestionBox {
  const { questions, look, width, bindings } = scene;
  const question = questions.find(({ id }) => id === look.question) ?? questions[0];
  const { left } = roomOf(scene);
  const isFocused = look.focus === 'question';
  const tree =
    left < LEAST_FOR_TREE ? 0 : Math.min(look.paneHeight, LEAST_TREE) + LEAST_CONVERSATION;
  const wanted = isFocused ? left - tree : Math.max(LEAST_QUESTION, Math.floor(left / 2));
  const height = Math.min(wanted, Math.max(0, left - 1));
  if (question === undefined || height === 0) return NOTHING_ASKED;
  const waiting = questions.length;
  const scroll = look.questionScroll;
  return questionBox(question, { width, height, isFocused, waiting, scroll, bindings }, tools);
}
