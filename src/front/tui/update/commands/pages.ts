import { errorMessage } from '../../../../base/errors.ts';
import { suggestNames } from '../../../../base/name-suggestions.ts';
import { plural } from '../../../../base/text.ts';
import type { AppState } from '../../model/app-state.ts';
import { ACTIONS, type Bindings } from '../../model/key-bindings.ts';
import { keysOf } from '../../model/key-names.ts';
import type { TreeTask } from '../../model/task-row.ts';
import { rootRow, type DisplayedTree, treeRows } from '../../model/task-tree.ts';
import { totalUse } from '../../model/total-use.ts';
import type { LibraryInfo } from '../../model/ui-library.ts';
import { shortCost, shortTokens, shortTime, totalCost } from '../../view/numbers.ts';
import { statusSign, activityLine } from '../../view/task-pane.ts';
import { type UpdateContext, andThen, next, type Update, appendEntry } from '../step.ts';
import { FAMILIAR_NAMES } from './familiar-names.ts';
import { showFromStart } from '../scroll.ts';
import { closeTask } from '../tasks.ts';
import { showDocument } from '../pager.ts';
import type { ColumnRow } from '../../model/pager.ts';

/** The output of a command, which becomes an entry of the conversation. */
export interface Page {
  readonly title: string;
  readonly lines: readonly string[];
}

/** The data from which pages are built. */
export interface PageSource extends UpdateContext {
  readonly tree: DisplayedTree;
}

/** The part of a slash command that the help shows. */
export interface CommandHelp {
  readonly name: string;
  /** The argument as the help shows it; absent if there is none. */
  readonly argument?: string;
  readonly help: string;
}

/** Adds a page to the conversation and scrolls to the beginning of the page. */
export function showPage(state: AppState, page: Page, context: UpdateContext): Update {
  return andThen(closeTask(state), (closed) => {
    const added = appendEntry(closed, { kind: 'page', ...page });
    // The UI in plain lines has no view that could scroll.
    if (state.surface === 'lines') return next(added.state);
    return next(showFromStart(added.state, added.key, context));
  });
}

export function unknownCommandPage(name: string, commands: readonly CommandHelp[]): Page {
  const [near] = suggestNames(name, [
    ...commands.map((command) => command.name),
    ...FAMILIAR_NAMES.keys(),
  ]);
  const meant = near === undefined ? '/help lists them.' : `did you mean /${near}?`;
  return {
    title: `/${name} is not a command`,
    lines: [`${meant} To send a message that starts with a slash, type a space before it.`],
  };
}

/** The maximum number of slash commands from files, and of prompts of MCP servers, that the help lists. */
const MAX_LISTED = 40;

/** The commands that the help lists. */
interface HelpContent {
  readonly commands: readonly CommandHelp[];
  /** The slash commands from files, and the skills. */
  readonly offered: readonly CommandHelp[];
  /** The prompts of MCP servers; null if no server is configured. */
  readonly prompts: readonly CommandHelp[] | null;
}

/** The rows of the help, each with what it does. */
interface HelpRows {
  readonly commands: readonly ColumnRow[];
  /** The slash commands from files, and the skills. Empty if there are none. */
  readonly offered: readonly ColumnRow[];
  /** The prompts and resources of MCP servers. Empty if no server is configured. */
  readonly servers: readonly ColumnRow[];
  readonly keys: readonly ColumnRow[];
}

function helpRows(bindings: Bindings, { commands, offered, prompts }: HelpContent): HelpRows {
  const named = (rows: readonly CommandHelp[]) =>
    rows.map(
      ({ name, argument, help }) =>
        [`/${name}${argument === undefined ? '' : ` ${argument}`}`, help] as const,
    );
  const cut = (rows: readonly CommandHelp[], what: string): readonly ColumnRow[] => {
    const left = rows.length - MAX_LISTED;
    const more = ['…', `and ${left} more ${what}: type / and a part of the name`] as const;
    return [...named(rows.slice(0, MAX_LISTED)), ...(left > 0 ? [more] : [])];
  };
  const servers =
    prompts === null
      ? []
      : [
          ...cut(prompts, 'prompts'),
          ['@server:uri', 'attach a resource of an MCP server'] as const,
        ];
  const keys = ACTIONS.flatMap((action) => {
    const { help } = bindings[action];
    const names = keysOf(bindings, action);
    return help === undefined || names.length === 0
      ? []
      : [[names.join(' or '), withKeys(help, bindings)] as const];
  });
  const always: readonly ColumnRow[] = [
    ['↑ ↓', 'earlier messages, with an empty editor'],
    ['@', 'name an agent, or attach a file'],
    ['# note', 'add a line to the context file of the project, or to your own'],
    ['!command', 'run a shell command; its output goes with the next message (!! only shows it)'],
  ];
  return {
    commands: named(commands),
    offered: cut(offered, 'commands'),
    servers,
    keys: [...always, ...keys],
  };
}

const HELP_TITLE = 'Commands and keys';

/** `/help`: the commands and keys on the full screen, or as a page in plain lines. */
export function showHelp(state: AppState, content: HelpContent, context: UpdateContext): Update {
  const { commands, offered, servers, keys } = helpRows(context.bindings, content);
  if (state.surface === 'lines') {
    const rest = [offered, servers].flatMap((rows) =>
      rows.length === 0 ? [] : columns(rows).concat(''),
    );
    const lines = [...columns(commands), '', ...rest, ...columns(keys)];
    return showPage(state, { title: HELP_TITLE, lines }, context);
  }
  return showDocument(state, {
    title: HELP_TITLE,
    sections: [
      { kind: 'heading', text: 'Commands: type / and the first letters, or the whole name' },
      { kind: 'columns', rows: commands },
      ...(offered.length === 0
        ? []
        : ([
            { kind: 'heading', text: 'Commands from files and skills' },
            { kind: 'columns', rows: offered },
          ] as const)),
      ...(servers.length === 0
        ? []
        : ([
            { kind: 'heading', text: 'MCP servers' },
            { kind: 'columns', rows: servers },
          ] as const)),
      { kind: 'heading', text: 'Keys' },
      { kind: 'columns', rows: keys },
    ],
  });
}

function withKeys(help: string, bindings: Bindings): string {
  return ACTIONS.reduce(
    (text, action) => text.replace(`{${action}}`, keysOf(bindings, action)[0] ?? '(no key)'),
    help,
  );
}

function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const width = Math.max(...rows.map(([name = '']) => name.length));
  return rows.map(([name = '', help = '']) => `${name.padEnd(width)}  ${help}`);
}

export function tasksPage({ tree, now: clock }: PageSource): Page {
  const rows = treeRows(tree);
  const now = clock();
  if (rows.length === 0) return { title: 'Tasks', lines: ['none yet'] };
  const more =
    tree.droppedRows === 0 ? [] : [`and ${tree.droppedRows} that ended before: muster tasks list`];
  return {
    title: `Tasks: ${rows.length}`,
    lines: [
      ...rows.map(
        ({ row, level, isBackground }) =>
          `${'  '.repeat(level)}${statusSign(row).sign} ${row.id.slice(0, 8)} ${row.agent}${isBackground ? ' (background)' : ''}: ${activityLine(row, now)}: ${row.description} (${usedText(row, now)})`,
      ),
      ...more,
    ],
  };
}

/** Describes what a task has used. */
export function usedText(row: TreeTask, now: number): string {
  return [
    plural(row.turns, 'turn'),
    `${shortTokens(row.tokens)} tok`,
    shortCost(row.costUsd),
    shortTime((row.endedAt ?? now) - row.since),
  ].join(', ');
}

export function agentsPage({ library }: PageSource): Page {
  const { agents, skipped } = library.agents;
  return {
    title: `Agents: ${agents.length}`,
    lines: [
      ...columns(
        agents.map(({ name, description, origin }) => [`${name} (${origin.scope})`, description]),
      ),
      ...(skipped.length === 0
        ? []
        : [`${plural(skipped.length, 'file')} not used: muster agents list --verbose`]),
    ],
  };
}

export function modelPage({ library, tree }: PageSource): Page {
  const root = rootRow(tree);
  const providers = library.models.providers.map(({ name }) => name);
  return {
    title: 'Model',
    lines: [
      ...(root === undefined ? [] : [`this conversation: ${root.model}`]),
      ...mainModelLines(library),
      `providers: ${providers.length === 0 ? 'none; see muster models' : providers.join(', ')}`,
      'another one: /model NAME, muster --model NAME, or models.default in the configuration',
    ],
  };
}

function mainModelLines(library: Pick<LibraryInfo, 'mainModel'>): readonly string[] {
  try {
    const { provider, id, chain } = library.mainModel();
    return [`a new one: ${provider}/${id} (${chain.join(' → ')})`];
  } catch (thrown) {
    return [`a new one: none: ${errorMessage(thrown)}`];
  }
}

export function usagePage({ tree }: PageSource): Page {
  const byModel = Map.groupBy(tree.rows.values(), ({ model }) => model);
  const sum = (rows: readonly TreeTask[]) => {
    const use = totalUse(rows);
    return `${plural(rows.length, 'task')}, ${plural(use.turns, 'turn')}, ${shortTokens(use.tokens)} paid tokens, ${totalCost(use)}`;
  };
  return {
    title: 'Usage of this conversation',
    lines: [
      ...[...byModel].map(([model, rows]) => `${model}: ${sum(rows)}`),
      `together: ${sum([...tree.rows.values()])}`,
      'of all: muster usage',
    ],
  };
}
