import type { Look } from './look.ts';
import { conversationParts } from './render/conversation.ts';
import type { Scene } from './render/frame.ts';
import type { LineCache } from './render/line-cache.ts';
import type { Pen } from './render/pen.ts';
import { startScreen, type StartFacts } from './render/start-screen.ts';
import type { Parts } from './render/viewport.ts';
import { currentRows, treeRows } from './view/tree-rows.ts';
import { treeUse } from './view/tree-use.ts';
import type { UiState } from './view/ui-state.ts';

export interface SceneParts {
  readonly width: number;
  readonly height: number;
  readonly editor: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly ui: UiState;
  readonly look: Look;
  readonly start: StartFacts;
  /** Of the next message. */
  readonly mode: string;
  /** As it is called. */
  readonly focusKey: string;
  /** Whether something is about to work that has no event yet. */
  readonly isBeginning: boolean;
}

/** What is to be seen, of all that there is. Pure. */
export function sceneOf(
  parts: SceneParts,
  tools: { readonly pen: Pen; readonly cache: LineCache },
): Scene {
  const { ui, look, width, height, now, editor, focusKey } = parts;
  const root = ui.root === null ? undefined : ui.rows.get(ui.root);
  const opened = look.openTask === null ? undefined : ui.rows.get(look.openTask);
  return {
    width,
    height,
    now,
    look,
    editor,
    focusKey,
    heading:
      opened === undefined
        ? null
        : `← ${opened.agent} ${opened.id.slice(0, 6)}: ${opened.description}`,
    parts: shownParts(parts, tools),
    questions: [...ui.questions.values()],
    tasks: look.focus === 'tasks' ? treeRows(ui) : currentRows(ui),
    status: {
      mode: root?.mode ?? parts.mode,
      nextMode: root === undefined || root.mode === look.chosenMode ? null : look.chosenMode,
      model: root?.model ?? parts.start.model,
      use: treeUse(ui),
      hints: look.hint === null ? keysNow(parts) : [look.hint],
      isUrgent: look.hint !== null || look.armed !== null,
    },
  };
}

/** The conversation that is looked at. */
export function shownParts(
  { ui, look, width, start }: Pick<SceneParts, 'ui' | 'look' | 'width' | 'start'>,
  { pen, cache }: { readonly pen: Pen; readonly cache: LineCache },
): Parts {
  const { isExpanded } = look;
  const isMain = look.openTask === null || ui.opened === null;
  const above = isMain ? startScreen(start, width, pen) : [];
  const shown = isMain || ui.opened === null ? ui.main : ui.opened;
  return conversationParts(shown, { width, isExpanded, above }, { pen, cache });
}

/** The keys that matter now. */
function keysNow({ look, ui, isBeginning, focusKey }: SceneParts): readonly string[] {
  if (look.writing.kind === 'reason') return ['why not? enter sends it', 'esc back'];
  if (look.writing.kind === 'answer') return ['your answer: enter sends it', 'esc back'];
  if (look.focus === 'tasks') return ['enter open', 's stop', 'b background', 'esc back'];
  if (look.focus === 'question') return ['esc leaves it for later'];
  if (look.anchor !== null) return ['ctrl+end to the end', 'pgdn down'];
  const row = look.openTask ?? ui.root;
  const runs = isBeginning || (row !== null && ui.rows.get(row)?.endedAt === null);
  if (look.openTask !== null) return runs ? ['← back', 'esc stops it'] : ['← back'];
  if (ui.questions.size > 0) return [`${focusKey} answers`];
  return runs ? ['esc stop', 'ctrl+t tasks', 'ctrl+b background'] : ['/help', 'shift+tab mode'];
}
