import { NO_SERVERS } from '../../../../src/api/mcp/server-status.ts';
import { initialAppState, type AppState } from '../../../../src/front/tui/model/app-state.ts';
import { DEFAULT_BINDINGS } from '../../../../src/front/tui/model/key-bindings.ts';
import { taskRow } from '../../../../src/front/tui/model/task-row.ts';
import { emptyTaskTree, type DisplayedTree } from '../../../../src/front/tui/model/task-tree.ts';
import type { UpdateContext } from '../../../../src/front/tui/update/step.ts';
import { Pen } from '../../../../src/front/tui/view/pen.ts';
import { PLAIN } from '../../../../src/front/tui/view/theme.ts';
import type { PermissionQuestion, Question } from '../../../../src/protocol/question.ts';
import { taskSpec } from '../../../store/fixture-data.ts';
import { DEFAULT_TERMINAL_SETTINGS } from '../../../../src/protocol/terminal-settings.ts';
import { LOG_VERSION } from '../../../../src/protocol/events/event.ts';
import { initialState } from '../../../../src/protocol/state/task-state.ts';

/** What updates read beside the state; nothing of it changes. */
export const CONTEXT: UpdateContext = {
  library: {
    serverContent: null,
    slashCommands: [],
    configFiles: [],
    cwd: '/home/you/project',
    agents: { agents: [taskSpec('aaaaaaaa').agent], shadowed: [], skipped: [], problems: [] },
    models: { settings: {}, providers: [] } as never,
    mode: 'default',
    offlineByDefault: false,
    rules: { allow: [], ask: [], deny: [] },
    templates: [],
    servers: NO_SERVERS,
    terminal: DEFAULT_TERMINAL_SETTINGS,
    mainEffort: () => null,
    mainModel: () => ({ provider: 'scripted', id: 'one', chain: ['flag'] }),
  },
  bindings: DEFAULT_BINDINGS,
  pen: new Pen(PLAIN),
  now: () => 1_000,
};

export interface Member {
  readonly parent?: string;
  readonly isBackground?: true;
  readonly hasEnded?: true;
}

/** A tree whose main task is `main`. */
export function treeOf(members: Readonly<Record<string, Member>>): DisplayedTree {
  const tree = emptyTaskTree();
  if (members['main'] !== undefined) {
    tree.root = 'main';
    tree.main.task = 'main';
  }
  for (const [id, { parent = null, isBackground, hasEnded }] of Object.entries(members)) {
    const spec = taskSpec(id, { parent });
    const stamp = { v: LOG_VERSION, seq: 0, ts: 1, task: id, epoch: 1 };
    const row = taskRow(initialState({ ...stamp, type: 'task.created', spec }), 0);
    tree.rows.set(id, { ...row, endedAt: hasEnded === true ? 2 : null });
    if (isBackground === true) tree.background.add(id);
  }
  return tree;
}

/** A state with these tasks and questions. */
export function stateOf(
  change: Partial<AppState> = {},
  {
    members = {},
    questions = [],
  }: {
    readonly members?: Readonly<Record<string, Member>>;
    readonly questions?: readonly Question[];
  } = {},
): AppState {
  const tree = treeOf(members);
  for (const question of questions) tree.questions.set(question.id, question);
  return { ...initialAppState({ tree }), ...change };
}

export function permissionQuestion(
  id: string,
  change: Partial<PermissionQuestion> = {},
): PermissionQuestion {
  return {
    id,
    task: 'child',
    callId: 'call',
    kind: 'permission',
    chain: ['main', 'coder'],
    tool: 'Bash',
    commands: ['npm test'],
    paths: [],
    hosts: [],
    edits: [],
    input: null,
    step: 'tool_default',
    reason: 'Bash runs commands.',
    askedBy: null,
    rule: 'Bash(npm test:*)',
    scopes: ['task', 'project', 'user'],
    ...change,
  };
}
