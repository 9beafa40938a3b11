import type { ServerStatus } from '../../../../api/index.ts';
import type { AppState } from '../../model/app-state.ts';
import { createPicker, setItems, type PickerItem } from '../../model/picker.ts';
import {
  loginHint,
  readServerRow,
  serverDocument,
  serverItems,
  serverLines,
  serverRows,
  type ServerAction,
} from '../../model/server-texts.ts';
import { keysOf } from '../../model/key-names.ts';
import type { UiMessage } from '../message.ts';
import { changePicker, openPicker } from '../open-picker.ts';
import { showDocument } from '../pager.ts';
import { addNote, hint, next, type Update, type UpdateContext } from '../step.ts';
import { showPage } from './pages.ts';

const ELSEWHERE = 'servers can be changed only where the conversation runs';
const USAGE = 'type /mcp, /mcp NAME, or /mcp restart|accept|enable|disable NAME';
const ACTIONS: readonly ServerAction[] = ['restart', 'accept', 'enable', 'disable'];

/** `/mcp`: lists the MCP servers, shows one, or does something with one. */
export function mcp(state: AppState, argument: string, context: UpdateContext): Update {
  if (argument === '') return listServers(state, context);
  const [, word = '', rest = ''] = /^(\S+)\s+(.+)$/.exec(argument) ?? [];
  const action = ACTIONS.find((each) => each === word);
  const name = action === undefined ? argument : rest;
  const server = findServer(name, context);
  if (server === undefined) return hint(state, `there is no MCP server ${name}: ${USAGE}`);
  if (action !== undefined) return change(state, server, action);
  return state.surface === 'screen'
    ? openServer(state, server)
    : showPage(state, pageOf(server, state), context);
}

function findServer(id: string, { library }: UpdateContext): ServerStatus | undefined {
  return library.servers.list().find((server) => server.id === id);
}

function listServers(state: AppState, context: UpdateContext): Update {
  const servers = context.library.servers.list();
  const { isWatched } = state.conversation;
  if (state.surface === 'screen') {
    const note = isWatched ? 'states are known only where it runs' : '';
    return openPicker(
      state,
      createPicker('servers', serverItems(servers, { isWatched }), { note }),
    );
  }
  const lines = serverLines(servers, { isWatched });
  return showPage(
    state,
    {
      title: `MCP servers: ${servers.length}`,
      lines:
        lines.length === 0 ? ['none: muster mcp add NAME -- COMMAND adds one'] : [...lines, USAGE],
    },
    context,
  );
}

function pageOf(server: ServerStatus, { conversation: { isWatched } }: AppState) {
  const { title, sections } = serverDocument(server, null, { isWatched });
  return {
    title,
    lines: sections.flatMap((section) => {
      if (section.kind === 'heading') return [`${section.text}:`];
      return section.kind === 'text' ? section.lines.map((line) => `  ${line}`) : [];
    }),
  };
}

/** Opens the rows about the selected server of the list. */
export function takeServer(state: AppState, item: PickerItem, context: UpdateContext): Update {
  const server = findServer(item.id, context);
  return server === undefined ? next(state) : openServer(state, server);
}

function openServer(state: AppState, server: ServerStatus): Update {
  const { isWatched } = state.conversation;
  const subject = { id: server.id, title: server.name, cells: [] };
  return openPicker(
    state,
    createPicker('server', serverRows(server, { isWatched }), { subject, note: server.id }),
  );
}

/** Does what the selected row about a server is for. */
export function takeServerRow(
  state: AppState,
  { subject, item }: { readonly subject: PickerItem | null; readonly item: PickerItem },
  context: UpdateContext,
): Update {
  const server = subject === null ? undefined : findServer(subject.id, context);
  if (server === undefined) return next(state);
  const choice = readServerRow(server, item.id);
  if (choice.kind === 'action') return change(state, server, choice.action);
  const { isWatched } = state.conversation;
  return showDocument(state, serverDocument(server, choice.tool, { isWatched }));
}

/** Has an action carried out. On the screen, the list shows what comes of it. */
function change(state: AppState, server: ServerStatus, action: ServerAction): Update {
  const { isWatched } = state.conversation;
  if (isWatched) return hint(state, ELSEWHERE);
  const effect = { type: 'change-server', id: server.id, action } as const;
  const login = action === 'restart' ? loginHint(server) : null;
  const told = login === null ? state : addNote(state, 'info', login);
  if (state.surface === 'lines') return next(told, effect);
  return openPicker(told, createPicker('servers', null), effect, {
    type: 'dispatch',
    message: { type: 'servers-changed' },
  });
}

type ServersMessage = Extract<UiMessage, { type: 'servers-changed' | 'servers-awaited' }>;

/** Handles a message about MCP servers. */
export function receiveServers(
  state: AppState,
  message: ServersMessage,
  context: UpdateContext,
): Update {
  return message.type === 'servers-changed'
    ? refreshServers(state, context)
    : awaitServers(state, message, context);
}

/** Brings the open list of servers, or the rows about one, up to date. */
function refreshServers(state: AppState, { library }: UpdateContext): Update {
  const { picker } = state;
  if (picker?.kind !== 'servers' && picker?.kind !== 'server') return next(state);
  const { isWatched } = state.conversation;
  const servers = library.servers.list();
  const server = servers.find(({ id }) => id === picker.subject?.id);
  const items =
    picker.kind === 'servers'
      ? serverItems(servers, { isWatched })
      : server === undefined
        ? []
        : serverRows(server, { isWatched });
  const { note } = picker;
  return changePicker(state, (open) => setItems(open, items, { isLoading: false, note }));
}

/** Says that a message waits for servers, or that it no longer does. */
function awaitServers(
  state: AppState,
  { names, end }: Extract<UiMessage, { type: 'servers-awaited' }>,
  { bindings }: UpdateContext,
): Update {
  const waiting: AppState = { ...state, awaitedServers: names };
  if (names.length > 0) {
    const key = state.surface === 'lines' ? 'Ctrl+C' : (keysOf(bindings, 'interrupt')[0] ?? 'esc');
    const text = `Your message waits for ${listServerNames(names)}, whose tools are not known yet. ${key} goes on without.`;
    return next(addNote(waiting, 'info', text));
  }
  if (end === 'answered') return next(waiting);
  const why = end === 'skipped' ? 'as you wish' : 'the answer takes too long';
  const missing = listServerNames(state.awaitedServers);
  return next(
    addNote(
      waiting,
      'warning',
      `This conversation begins without the tools of ${missing}: ${why}.`,
    ),
  );
}

function listServerNames(names: readonly string[]): string {
  return `the MCP ${names.length === 1 ? 'server' : 'servers'} ${names.join(', ')}`;
}
