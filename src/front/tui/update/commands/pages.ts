import type { Muster } from '../../../../api/index.ts';
import { errorMessage } from '../../../../base/errors.ts';
import { nearNames } from '../../../../base/near-names.ts';
import { plural } from '../../../../base/text.ts';
import { ACTIONS, type Bindings } from '../../model/key-bindings.ts';
import { keysOf } from '../../model/key-names.ts';
import { shortCost, shortCount, shortTime } from '../../view/numbers.ts';
import { statusSign } from '../../view/status-sign.ts';
import { doing } from '../../view/task-pane.ts';
import type { TaskRow } from '../../model/task-row.ts';
import { treeRows, treeUse } from '../../model/tree-rows.ts';
import type { UiState } from '../../model/task-tree.ts';
import { COMMANDS, type CommandName } from './command-table.ts';

/** What a command has to say. */
export interface Page {
  readonly title: string;
  readonly lines: readonly string[];
}

export interface PageSource {
  readonly muster: Pick<Muster, 'agents' | 'models' | 'mainModel' | 'mode' | 'rules'>;
  readonly ui: UiState;
  readonly bindings: Bindings;
  /** Milliseconds on the monotonic clock. */
  readonly now: number;
}

/** The page of a command that only tells. `rest`: what was typed behind it. */
export function pageOf(
  name: Exclude<CommandName, 'compact' | 'context' | 'new' | 'quit' | 'redo' | 'resume' | 'undo'>,
  rest: string,
  source: PageSource,
): Page {
  switch (name) {
    case 'help':
      return helpPage(source.bindings);
    case 'tasks':
      return tasksPage(source);
    case 'task-status':
      return taskPage(rest, source);
    case 'agents':
      return agentsPage(source);
    case 'model':
      return modelPage(source);
    case 'usage':
      return usagePage(source);
    case 'permissions':
      return permissionsPage(source);
    default:
      return name satisfies never;
  }
}

export function unknownPage(word: string): Page {
  const [near] = nearNames(word, Object.keys(COMMANDS));
  const meant = near === undefined ? '/help lists them.' : `did you mean /${near}?`;
  return {
    title: `/${word} is no command`,
    lines: [`${meant} A message that begins with a slash: type a blank before it.`],
  };
}

function helpPage(bindings: Bindings): Page {
  const commands = Object.entries(COMMANDS).map(([name, { args, help }]) => [
    `/${name}${args === '' ? '' : ` ${args}`}`,
    help,
  ]);
  const keys = ACTIONS.flatMap((action) => {
    const { help } = bindings[action];
    const names = keysOf(bindings, action);
    return help === undefined || names.length === 0
      ? []
      : [[names.join(' or '), withKeys(help, bindings)]];
  });
  const own = [
    ['↑ ↓', 'earlier messages, with an empty editor'],
    ['@', 'name an agent, or a file that goes along'],
    [
      '!command',
      'run it yourself; what it prints goes along with the next message (!! shows it only)',
    ],
  ];
  return {
    title: 'Commands and keys',
    lines: [...columns(commands), '', ...columns([...own, ...keys])],
  };
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

function tasksPage({ ui, now }: PageSource): Page {
  const rows = treeRows(ui);
  if (rows.length === 0) return { title: 'Tasks', lines: ['none yet'] };
  const more =
    ui.droppedRows === 0 ? [] : [`and ${ui.droppedRows} that ended before: muster tasks list`];
  return {
    title: `Tasks: ${rows.length}`,
    lines: [
      ...rows.map(
        ({ row, level, isBackground }) =>
          `${'  '.repeat(level)}${statusSign(row).sign} ${row.id.slice(0, 8)} ${row.agent}${isBackground ? ' (background)' : ''}: ${doing(row, now)}: ${row.description} (${used(row, now)})`,
      ),
      ...more,
    ],
  };
}

function used(row: TaskRow, now: number): string {
  return [
    plural(row.turns, 'turn'),
    `${shortCount(row.tokens)} tok`,
    shortCost(row.costUsd),
    shortTime((row.endedAt ?? now) - row.since),
  ].join(', ');
}

function taskPage(word: string, { ui, now }: PageSource): Page {
  const title = '/task-status';
  if (word === '') return { title, lines: ['which one? /tasks lists their ids'] };
  const found = [...ui.rows.values()].filter(({ id }) => id.startsWith(word));
  const [row] = found;
  if (row === undefined || found.length > 1) {
    const why = row === undefined ? 'no task of this conversation' : plural(found.length, 'task');
    return { title, lines: [`${word} means ${why}; /tasks lists their ids`] };
  }
  return {
    title: `Task ${row.id}`,
    lines: [
      `agent    ${row.agent}: ${row.description}`,
      `status   ${row.status}${row.endedAt === null ? `: ${doing(row, now)}` : ''}`,
      `mode     ${row.mode}`,
      `model    ${row.model}`,
      `used     ${used(row, now)}`,
      ...(row.asks === 0 ? [] : [`asks     ${plural(row.asks, 'question')} of it waits for you`]),
      ...(row.lastLine === '' ? [] : [`said     ${row.lastLine}`]),
    ],
  };
}

function agentsPage({ muster }: PageSource): Page {
  const { agents, skipped } = muster.agents;
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

function modelPage({ muster, ui }: PageSource): Page {
  const root = ui.root === null ? undefined : ui.rows.get(ui.root);
  const providers = muster.models.providers.map(({ name }) => name);
  return {
    title: 'Model',
    lines: [
      ...(root === undefined ? [] : [`this conversation: ${root.model}`]),
      ...mainModelLines(muster),
      `providers: ${providers.length === 0 ? 'none; see muster models' : providers.join(', ')}`,
      'another one: /model NAME, muster --model NAME, or models.default in the configuration',
    ],
  };
}

function mainModelLines(muster: Pick<Muster, 'mainModel'>): readonly string[] {
  try {
    const { provider, id, chain } = muster.mainModel();
    return [`a new one: ${provider}/${id} (${chain.join(' → ')})`];
  } catch (thrown) {
    return [`a new one: none: ${errorMessage(thrown)}`];
  }
}

function usagePage({ ui }: PageSource): Page {
  const byModel = Map.groupBy(ui.rows.values(), ({ model }) => model);
  const sum = (rows: readonly TaskRow[]) => {
    const use = treeUse({ rows: new Map(rows.map((row) => [row.id, row])) });
    return `${plural(rows.length, 'task')}, ${plural(use.turns, 'turn')}, ${shortCount(use.tokens)} paid tokens, ${shortCost(use.costUsd)}`;
  };
  return {
    title: 'Usage of this conversation',
    lines: [
      ...[...byModel].map(([model, rows]) => `${model}: ${sum(rows)}`),
      `together: ${sum([...ui.rows.values()])}`,
      'of all: muster usage',
    ],
  };
}

function permissionsPage({ muster, ui }: PageSource): Page {
  const root = ui.root === null ? undefined : ui.rows.get(ui.root);
  const rules = (['deny', 'ask', 'allow'] as const).flatMap((list) =>
    muster.rules[list].map(({ text }) => `${list.padEnd(5)} ${text}`),
  );
  return {
    title: 'Permissions',
    lines: [
      ...(root === undefined ? [] : [`this conversation works in mode ${root.mode}`]),
      `a new one begins in mode ${muster.mode}`,
      ...(rules.length === 0 ? ['no rules'] : rules),
      'rules: [permissions] of the configuration, --allow, --ask, --deny',
    ],
  };
}
