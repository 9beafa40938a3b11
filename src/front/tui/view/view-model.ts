import type { Action, Bindings } from '../model/key-bindings.ts';
import { keyHint, keysOf } from '../model/key-names.ts';
import type { Look } from '../model/view-state.ts';
import { searchHints } from './search-hints.ts';
import { conversationParts } from './conversation-parts.ts';
import type { Scene } from './frame.ts';
import type { LineCache } from './line-cache.ts';
import type { Pen } from './pen.ts';
import { startScreen, type StartFacts } from './start-screen.ts';
import type { Parts } from './viewport.ts';
import { currentRows, treeRows, treeUse } from '../model/tree-rows.ts';
import { isCutOff, shownTranscript, type UiState } from '../model/task-tree.ts';

export interface SceneParts {
  readonly width: number;
  readonly height: number;
  readonly editor: readonly string[];
  /** Milliseconds on the monotonic clock. */
  readonly now: number;
  readonly ui: UiState;
  readonly look: Look;
  readonly start: StartFacts;
  /** Of the next message. */
  readonly mode: string;
  /** The keys in force. */
  readonly bindings: Bindings;
  /** Whether something is about to work that has no event yet. */
  readonly isBeginning: boolean;
  /** Whether it is another process's conversation. */
  readonly isWatched: boolean;
}

/** What is to be seen, of all that there is. Pure. */
export function sceneOf(
  parts: SceneParts,
  tools: { readonly pen: Pen; readonly cache: LineCache },
): Scene {
  const { ui, look, width, height, now, editor, bindings } = parts;
  const root = ui.root === null ? undefined : ui.rows.get(ui.root);
  const opened = look.openTask === null ? undefined : ui.rows.get(look.openTask);
  return {
    width,
    height,
    now,
    look,
    editor,
    bindings,
    heading:
      opened === undefined
        ? null
        : `${keysOf(bindings, 'back')[0] ?? '←'} ${opened.agent} ${opened.id.slice(0, 6)}: ${opened.description}`,
    parts: shownParts(parts, tools),
    questions: [...ui.questions.values()],
    tasks: look.focus === 'tasks' ? treeRows(ui) : currentRows(ui),
    status: {
      mode: root?.mode ?? look.chosenMode ?? parts.mode,
      nextMode: root === undefined || root.mode === look.chosenMode ? null : look.chosenMode,
      model: root?.model ?? parts.start.model,
      use: treeUse(ui),
      hints: look.hint === null ? hintsNow(parts) : [look.hint],
      isUrgent: look.hint !== null || look.armed !== null,
    },
  };
}

/** The conversation that is looked at. */
export function shownParts(
  { ui, look, width, start }: Pick<SceneParts, 'ui' | 'look' | 'width' | 'start'>,
  { pen, cache }: { readonly pen: Pen; readonly cache: LineCache },
): Parts {
  const { isExpanded, toggled, search } = look;
  const transcript = shownTranscript(ui, look.openTask);
  const above = transcript === ui.main ? startScreen(start, width, pen) : [];
  const chosen = look.focus === 'entries' ? look.chosenEntry : null;
  const pattern = search?.pattern ?? null;
  const searched = search === null || pattern === null ? null : { pattern, here: search.here };
  return conversationParts(
    transcript,
    { width, isExpanded, toggled, chosen, above, search: searched },
    { pen, cache },
  );
}

function hintsNow(parts: SceneParts): readonly string[] {
  return parts.isWatched ? ['watching', ...keysNow(parts)] : keysNow(parts);
}

/** The keys that matter now. */
function keysNow({ look, ui, isBeginning, bindings }: SceneParts): readonly string[] {
  const hint = (action: Action, words: string) => keyHint(bindings, action, words);
  const [send = ''] = keysOf(bindings, 'send');
  const back = hint('interrupt', 'back');
  if (look.writing.kind === 'reason') return [`why not? ${send} sends it`, ...back];
  if (look.writing.kind === 'answer') return [`your answer: ${send} sends it`, ...back];
  if (look.writing.kind === 'plan') {
    return [`${send} approves the plan as it stands here`, ...back];
  }
  if (look.search !== null) return searchHints(look.search, bindings);
  if (look.focus === 'entries') {
    return [...hint('unfold-entry', 'unfolds'), ...hint('search-here', 'search'), ...back];
  }
  if (look.focus === 'tasks') {
    const background = hint('background-task', 'background');
    const resume = hint('resume-task', 'resume');
    return [
      ...hint('open-task', 'open'),
      ...hint('stop-task', 'stop'),
      ...background,
      ...resume,
      ...back,
    ];
  }
  if (look.focus === 'question') return hint('interrupt', 'leaves it for later');
  if (look.anchor !== null) return [...hint('to-end', 'to the end'), ...hint('page-down', 'down')];
  const row = look.openTask ?? ui.root;
  const runs = isBeginning || (row !== null && ui.rows.get(row)?.endedAt === null);
  if (look.openTask !== null) {
    return [...hint('back', 'back'), ...(runs ? hint('interrupt', 'stops it') : [])];
  }
  if (ui.questions.size > 0) return hint('focus-question', 'answers');
  if (!runs) return [...goOnHint(ui, send), '/help', ...hint('cycle-mode', 'mode')];
  const background = hint('background', 'background');
  return [...hint('interrupt', 'stop'), ...hint('focus-tasks', 'tasks'), ...background];
}

function goOnHint(ui: UiState, send: string): readonly string[] {
  if (!isCutOff(ui)) return [];
  const asks = ui.root !== null && ui.rows.get(ui.root)?.status === 'parked';
  return [asks ? `${send} goes on: it asks something` : `${send} goes on where it was cut off`];
}
