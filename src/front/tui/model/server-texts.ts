import type { ServerState, ServerStatus } from '../../../api/index.ts';
import { collapseWhitespace, plural } from '../../../base/text.ts';
import { textSection, type PagerDocument, type PagerSection } from './pager.ts';
import type { PickerItem, PreviewPart } from './picker.ts';

/** The sign and the words of each state of an MCP server. */
const STATES: Readonly<Record<ServerState, readonly [sign: string, text: string]>> = {
  connected: ['●', 'connected'],
  connecting: ['◐', 'connecting'],
  idle: ['○', 'not running'],
  unused: ['○', 'not used yet'],
  changed: ['!', 'tools changed'],
  login: ['!', 'needs a login'],
  failed: ['✗', 'failed'],
  disabled: ['–', 'disabled'],
};

/** A sentence about each state that needs one. */
const EXPLANATIONS: Readonly<Partial<Record<ServerState, string>>> = {
  idle: 'It starts with the first call.',
  unused: 'It is started when an agent that may use it begins.',
  changed: 'Its tools differ from those that you have accepted. Agents get the accepted texts.',
  disabled: 'New tasks do not get its tools, and calls are refused.',
};

/** Whether the states are those of another process, which are not known here. */
interface ServerStyle {
  readonly isWatched: boolean;
}

function stateText({ state }: ServerStatus, { isWatched }: ServerStyle): string {
  return isWatched && state !== 'disabled' ? '' : STATES[state][1];
}

function toolsText({ tools }: ServerStatus): string {
  return tools === null ? '' : plural(tools.length, 'tool');
}

function originText({ agent, scope }: ServerStatus): string {
  return agent === null ? scope : `agent ${agent}`;
}

/** Describes what a server would run or connect to, and where it is defined. */
function factsOf(server: ServerStatus): string {
  const { target, isSandboxed, file, agent, running } = server;
  return [
    `${target}${isSandboxed ? ' (in the sandbox)' : ''}`,
    `from ${file}${agent === null ? '' : `, for tasks of ${agent}`}`,
    ...(running === null
      ? []
      : [
          `${running.title}, protocol ${running.protocol}, offers ${running.offers.join(', ') || 'nothing'}`,
          `${plural(running.connections, 'connection')}, ${plural(running.activeRequests, 'request')} at work`,
          ...running.workspaces.map((tree) => `runs for the workspace ${tree}`),
        ]),
  ].join('\n');
}

/** Returns what the user can do about a login; null if none is needed. */
export function loginHint({ state, name }: ServerStatus): string | null {
  return state === 'login'
    ? `type !!muster mcp login ${name}, then start the server again here`
    : null;
}

function changeText({ change }: ServerStatus): string {
  if (change === null) return '';
  const words = ['added', 'changed', 'removed'] as const;
  return words
    .filter((word) => change[word].length > 0)
    .map((word) => `${word}: ${change[word].join(', ')}`)
    .join('\n');
}

/** Returns the parts of a description, of which empty ones are left out. */
function describe(server: ServerStatus, style: ServerStyle): readonly PreviewPart[] {
  const { state, error, errorOutput } = server;
  const explanation = style.isWatched ? '' : (EXPLANATIONS[state] ?? '');
  const parts: readonly PreviewPart[] = [
    {
      label: '',
      text: [stateText(server, style), toolsText(server), explanation]
        .filter((text) => text !== '')
        .join(' · '),
    },
    { label: 'log in', text: loginHint(server) ?? '' },
    { label: 'server', text: factsOf(server) },
    { label: 'error', text: error ?? '' },
    { label: 'differences', text: changeText(server) },
    { label: 'stderr', text: lastLines(errorOutput, PREVIEWED_LINES) },
  ];
  return parts.filter(({ text }) => text !== '');
}

const PREVIEWED_LINES = 8;

function lastLines(text: string, count: number): string {
  return text.split('\n').slice(-count).join('\n');
}

/** The rows of the list of servers. */
export function serverItems(
  servers: readonly ServerStatus[],
  style: ServerStyle,
): readonly PickerItem[] {
  return servers.map((server) => ({
    id: server.id,
    title: server.name,
    sign: style.isWatched ? '○' : STATES[server.state][0],
    cells: [stateText(server, style), toolsText(server), originText(server)],
    searched: `${server.file} ${(server.tools ?? []).map(({ name }) => name).join(' ')}`,
    preview: describe(server, style),
  }));
}

/** An action on a server. */
export type ServerAction = 'restart' | 'accept' | 'enable' | 'disable';

/** The actions that a server offers now, with their titles and explanations. */
function serverActions(
  server: ServerStatus,
): readonly { readonly action: ServerAction; readonly title: string; readonly help: string }[] {
  const { state, running } = server;
  if (state === 'disabled') {
    const help = 'Tasks that begin from now on get its tools, until you leave.';
    return [{ action: 'enable', title: 'Enable it in this session', help }];
  }
  const restart = {
    action: 'restart',
    title: running === null ? 'Start it' : 'Restart it',
    help: 'Starts the server, and compares its tools with those that you have accepted. A call that is running fails.',
  } as const;
  const accept = {
    action: 'accept',
    title: 'Accept the changed tools',
    help: `Tasks that begin from now on get the texts that the server offers now.\n${changeText(server)}`,
  } as const;
  const disable = {
    action: 'disable',
    title: 'Disable it in this session',
    help: 'Tasks that begin from now on do not get its tools, and calls of tasks at work are refused, until you leave.',
  } as const;
  return state === 'changed' ? [accept, restart, disable] : [restart, disable];
}

/** The id of the row that opens everything about a server. */
const DETAILS = 'details';
const TOOL_PREFIX = 'tool:';

/** The rows about one server: its description, what can be done with it, and its tools. */
export function serverRows(server: ServerStatus, style: ServerStyle): readonly PickerItem[] {
  const row = (id: string, title: string, text: string): PickerItem => ({
    id,
    title,
    sign: '→',
    cells: [],
    preview: [{ label: '', text }],
  });
  return [
    {
      ...row(DETAILS, 'Show everything about it', ''),
      cells: [stateText(server, style)],
      preview: describe(server, style),
    },
    ...(style.isWatched
      ? []
      : serverActions(server).map(({ action, title, help }) => row(action, title, help))),
    ...(server.tools ?? []).map(({ name, description }) => ({
      id: `${TOOL_PREFIX}${name}`,
      title: name,
      sign: ' ',
      cells: [collapseWhitespace(description)],
      preview: [{ label: name, text: description === '' ? 'no description' : description }],
    })),
  ];
}

/** The meaning of a row about a server. */
export type ServerRowChoice =
  | { readonly kind: 'action'; readonly action: ServerAction }
  /** A text to open: about the tool with this name, or about the server if it is null. */
  | { readonly kind: 'text'; readonly tool: string | null };

/** Returns what the row with an id is for. */
export function readServerRow(server: ServerStatus, id: string): ServerRowChoice {
  const found = serverActions(server).find(({ action }) => action === id);
  if (found !== undefined) return { kind: 'action', action: found.action };
  return { kind: 'text', tool: id.startsWith(TOOL_PREFIX) ? id.slice(TOOL_PREFIX.length) : null };
}

/** The full text about a server, or about one of its tools. */
export function serverDocument(
  server: ServerStatus,
  tool: string | null,
  style: ServerStyle,
): PagerDocument {
  const { tools, errorOutput, instructions, error } = server;
  const section = (heading: string, text: string): readonly PagerSection[] =>
    text === '' ? [] : [{ kind: 'heading', text: heading }, textSection(text)];
  const shown = (tools ?? []).filter(({ name }) => tool === null || name === tool);
  const texts = shown.flatMap(({ name, description }) =>
    section(name, description === '' ? 'no description' : description),
  );
  if (tool !== null) return { title: `MCP server ${server.id}: ${tool}`, sections: texts };
  return {
    title: `MCP server ${server.id}`,
    sections: [
      ...section('State', `${stateText(server, style)} ${EXPLANATIONS[server.state] ?? ''}`.trim()),
      ...section('Login', loginHint(server) ?? ''),
      ...section('Server', factsOf(server)),
      ...section('Error', error ?? ''),
      ...section('Differences from the accepted tools', changeText(server)),
      ...section('The end of its stderr', errorOutput),
      ...section('What it says about itself', instructions),
      ...texts,
    ],
  };
}

/** A line about each server, for plain lines. */
export function serverLines(
  servers: readonly ServerStatus[],
  style: ServerStyle,
): readonly string[] {
  return servers.map((server) => {
    const { id, error, file } = server;
    const facts = [stateText(server, style), toolsText(server), `from ${file}`];
    const problem = loginHint(server) ?? error;
    const line = `${id}: ${facts.filter((fact) => fact !== '').join(', ')}`;
    return problem === null || style.isWatched ? line : `${line}: ${collapseWhitespace(problem)}`;
  });
}
