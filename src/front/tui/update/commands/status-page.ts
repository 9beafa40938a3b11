import type { Session, SandboxState, ServerStatus } from '../../../../api/index.ts';
import { plural } from '../../../../base/text.ts';
import { VERSION } from '../../../../base/version.ts';
import type { AppState } from '../../model/app-state.ts';
import { rootRow } from '../../model/task-tree.ts';
import { totalUse, type TotalUse } from '../../model/total-use.ts';
import type { LibraryInfo } from '../../model/ui-library.ts';
import { shortTokens, totalCost } from '../../view/numbers.ts';
import { currentModel } from '../../view/main-model.ts';
import { sandboxText } from '../../view/start-screen.ts';
import type { Page } from './pages.ts';

/** Builds the page of `/status`: what this session works with. It never contains a key. */
export function statusPage(state: AppState, library: LibraryInfo, sandbox: SandboxState): Page {
  const { tree, conversation, branch, contextWindow, chosenMode } = state;
  const root = rootRow(tree);
  const model = currentModel(state, library);
  const used = root?.contextTokens ?? null;
  const window = contextWindow?.tokens ?? null;
  const context =
    used === null
      ? 'nothing yet'
      : window === null
        ? `${shortTokens(used)} tokens; the window of the model is not known`
        : `${Math.round((used / window) * 100)} % of ${shortTokens(window)} tokens`;
  const [first = 'none', ...files] = library.configFiles.flatMap(describeFile);
  const facts: readonly (readonly [string, string])[] = [
    ['version', VERSION],
    ['directory', library.cwd],
    ['branch', branch ?? 'none'],
    ['model', model.name],
    ['effort', model.effort ?? 'that of the model'],
    ['key', describeKey(model.name, library)],
    ['context', context],
    ['cost', costText(totalUse(tree.rows.values()))],
    ['mode', root?.mode ?? chosenMode ?? library.mode],
    ['sandbox', sandboxText(sandbox)],
    ['session', conversation.id ?? 'not begun'],
    ['files', first],
    ...files.map((file) => ['', file] as const),
    ['mcp', describeServers(library)],
  ];
  return { title: 'Status', lines: facts.map(([name, value]) => `${name.padEnd(11)}${value}`) };
}

function costText(total: TotalUse): string {
  if (total.turns === 0) return 'nothing yet';
  const text = `${totalCost(total)}, ${shortTokens(total.tokens)} tokens`;
  return total.isPriced ? text : `${text}; some answers are of a model without a known price`;
}

/** Counts the MCP servers and those with a problem. */
function describeServers({ servers }: Pick<LibraryInfo, 'servers'>): string {
  const all = servers.list();
  if (all.length === 0) return 'no servers';
  const isWrong = ({ state }: ServerStatus): boolean => PROBLEMS.has(state);
  const wrong = all.filter(isWrong).map(({ id }) => id);
  const problems = wrong.length === 0 ? '' : `, with a problem: ${wrong.join(', ')}`;
  return `${plural(all.length, 'server')}${problems}; /mcp shows them`;
}

const PROBLEMS: ReadonlySet<ServerStatus['state']> = new Set(['changed', 'failed', 'login']);

/** Says where the key of a model's provider comes from. */
function describeKey(model: string, { models }: Pick<LibraryInfo, 'models'>): string {
  const name = model.slice(0, model.indexOf('/'));
  const provider = models.providers.find((each) => each.name === name);
  if (provider === undefined) return 'none';
  const { keyFrom, keyProblem } = provider;
  if (keyFrom === undefined) return `none is sent to ${name}`;
  return keyProblem === undefined ? `from ${keyFrom}` : `from ${keyFrom}, but ${keyProblem}`;
}

/** Describes a file of the configuration. A file that does not exist is left out. */
function describeFile({ path, state }: Session['configFiles'][number]): readonly string[] {
  if (state === 'absent') return [];
  const ignored = {
    broken: 'it has mistakes',
    untrusted: 'not trusted',
    changed: 'changed since it was trusted',
  };
  return [state === 'read' ? path : `${path} (not used: ${ignored[state]})`];
}
