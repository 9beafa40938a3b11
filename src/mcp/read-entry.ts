import { EntryFields, type EntryProblem } from './entry-fields.ts';
import { readOAuthSettings } from './oauth-settings.ts';
import {
  DEFAULT_MCP_LIMITS,
  type HttpTransport,
  type McpServerEntry,
  type McpServerLimits,
  type McpServerOrigin,
  type McpToolFilter,
  type McpTransport,
  type StdioTransport,
} from './server-entry.ts';

/** The spellings of each transport, in lower case and without `_` and `-`. */
const TRANSPORT_TYPES: ReadonlyMap<string, McpTransport['type'] | 'websocket'> = new Map([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['command', 'stdio'],
  ['http', 'http'],
  ['streamablehttp', 'http'],
  ['httpstream', 'http'],
  ['remote', 'http'],
  ['sse', 'sse'],
  ['ws', 'websocket'],
  ['wss', 'websocket'],
  ['websocket', 'websocket'],
]);

/** Fields that say nothing about how to reach a server. */
const DESCRIPTIVE = ['name', 'title', 'displayname', 'description', 'icon', 'version', 'gallery'];
/** Fields in which other products keep permissions. */
const PERMISSIONS = ['trust', 'alwaysallow', 'autoapprove', 'autoallow'];

/** The maximum of each limit: a day. */
const MAX_LIMIT_MS = 86_400_000;
/** A `timeout` below this number is meant in seconds, as in Cline; others are in milliseconds. */
const MIN_TIMEOUT_MS = 1000;
/** A header name of HTTP: a token of RFC 9110. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** The name of a variable that a server may get: `MUSTER_` is kept for Muster itself. */
const VARIABLE_NAME = /^(?!MUSTER_)[A-Za-z_]\w*$/;

/** The entry of one server, unless it has an error, with its problems. */
export interface ReadEntry {
  readonly entry: McpServerEntry | null;
  readonly problems: readonly EntryProblem[];
}

/** Reads the entry of one server in the spelling of any product. Never throws. */
export function readServerEntry(
  name: string,
  value: Readonly<Record<string, unknown>>,
  origin: McpServerOrigin,
): ReadEntry {
  const fields = new EntryFields(value);
  const transport = readTransport(fields);
  const limits = readLimits(fields);
  const tools = readToolFilter(fields);
  const isDisabled = fields.flag('disabled') ?? false;
  const isEnabled = fields.flag('enabled') ?? true;
  const sandbox = readSandbox(fields, origin);
  const hasOwnConnection = fields.flag('ownconnection') ?? false;
  for (const key of DESCRIPTIVE) fields.take(key);
  for (const key of PERMISSIONS) {
    const field = fields.take(key);
    if (field !== undefined) {
      fields.warn(field.name, 'it grants nothing in Muster: write a permission rule instead');
    }
  }
  for (const field of fields.remaining()) fields.warn(field, 'this field has no effect in Muster');
  const { problems } = fields;
  if (transport === null || problems.some(({ severity }) => severity === 'error')) {
    return { entry: null, problems };
  }
  const entry = {
    name,
    origin,
    transport,
    limits,
    isEnabled: isEnabled && !isDisabled,
    sandbox,
    hasOwnConnection,
    tools,
  };
  return { entry, problems };
}

function readTransport(fields: EntryFields): McpTransport | null {
  const typeField = fields.take('type', 'transport', 'transporttype');
  const type = readType(fields, typeField);
  const url = fields.take('httpurl', 'url', 'serverurl', 'uri');
  const command = fields.take('command', 'cmd');
  if (type === null) return null;
  if (type === undefined && url !== undefined && command !== undefined) {
    fields.error(url.name, `the entry has ${command.name} as well: remove one of the two`);
    return null;
  }
  if (type === 'stdio' || (type === undefined && command !== undefined)) {
    return readStdio(fields, command);
  }
  if (url === undefined) {
    fields.error(
      null,
      type === undefined ? 'it has neither a command nor a url' : 'url is missing',
    );
    return null;
  }
  return readHttp(fields, type ?? 'http', url);
}

/** Reads whether the server shall run in the sandbox. A project's file cannot take its servers out of it. */
function readSandbox(fields: EntryFields, { scope }: McpServerOrigin): boolean | null {
  const sandbox = fields.flag('sandbox') ?? null;
  if (sandbox !== false || scope === 'user') return sandbox;
  fields.warn(
    'sandbox',
    "a project's server runs in the sandbox; only a file of yours can say false",
  );
  return null;
}

interface NamedValue {
  readonly name: string;
  readonly value: unknown;
}

/** Reads the type of the transport. Returns undefined if there is none, and null if it is wrong. */
function readType(
  fields: EntryFields,
  field: NamedValue | undefined,
): McpTransport['type'] | null | undefined {
  if (field === undefined) return undefined;
  const spelling = String(field.value).replaceAll(/[_-]/g, '').toLowerCase();
  const type = TRANSPORT_TYPES.get(spelling);
  if (type !== undefined && type !== 'websocket') return type;
  fields.error(
    field.name,
    type === 'websocket'
      ? 'WebSocket is no transport of the protocol; use stdio, http or sse'
      : 'it must be stdio, http or sse',
  );
  return null;
}

function readStdio(fields: EntryFields, command: NamedValue | undefined): StdioTransport | null {
  const words = readCommand(command?.value);
  if (command === undefined || words === null) {
    fields.error(command?.name ?? null, 'command must be a text or a list of texts');
    return null;
  }
  const [program, ...first] = words;
  const args = fields.list('args', 'arguments') ?? [];
  const env = fields.map('env', 'environment', 'envs') ?? {};
  const wrong = Object.keys(env).find((name) => !VARIABLE_NAME.test(name));
  if (wrong !== undefined)
    fields.error(`env.${wrong}`, 'a server cannot get a variable of this name');
  return {
    type: 'stdio',
    command: program,
    args: [...first, ...args].map(toVariableSyntax),
    env: mapValues(env, toVariableSyntax),
    cwd: fields.text('cwd', 'workingdirectory', 'workdir') ?? null,
  };
}

/** Reads a command: a text, or a list of the program and its arguments as in OpenCode. */
function readCommand(value: unknown): readonly [string, ...string[]] | null {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const words = list.filter((word) => typeof word === 'string' && !word.includes('\0'));
  const [program, ...rest] = words as readonly string[];
  const isValid = words.length === list.length && program !== undefined && program.trim() !== '';
  return isValid ? [program, ...rest] : null;
}

function readHttp(
  fields: EntryFields,
  type: HttpTransport['type'],
  { name, value }: NamedValue,
): HttpTransport | null {
  const url = typeof value === 'string' ? toVariableSyntax(value.trim()) : '';
  // A variable may stand for any part of the URL, so such a URL is checked when the variables are replaced.
  if (!url.includes('${') && !isWebUrl(url)) {
    fields.error(name, 'it must be a URL that begins with http:// or https://');
    return null;
  }
  const headers = {
    ...mapValues(fields.map('headers', 'httpheaders') ?? {}, toVariableSyntax),
    ...mapValues(fields.map('envhttpheaders') ?? {}, (variable) => `\${${variable}}`),
  };
  const tokenVariable = fields.text('bearertokenenvvar');
  if (tokenVariable !== undefined) headers['Authorization'] = `Bearer \${${tokenVariable}}`;
  const wrong = Object.entries(headers).find(
    ([header, text]) => !HEADER_NAME.test(header) || /[\r\n]/.test(text),
  );
  if (wrong !== undefined) fields.error(`headers.${wrong[0]}`, 'it is no valid HTTP header');
  const oauth = readOAuthSettings(fields, toVariableSyntax);
  return {
    type,
    url,
    headers,
    headersHelper: fields.text('headershelper') ?? null,
    ...(oauth === null ? {} : { oauth }),
  };
}

/** Tells whether a text is an absolute URL of HTTP without a user name and a password. */
export function isWebUrl(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  );
}

/** Rewrites OpenCode's `{env:NAME}` to `${NAME}`. */
function toVariableSyntax(text: string): string {
  return text.replaceAll(/(?<!\$)\{env:(\w+)\}/g, (_, name: string) => `\${${name}}`);
}

function mapValues(
  map: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}

function readLimits(fields: EntryFields): McpServerLimits {
  const seconds = (...keys: readonly string[]) => toMs(fields.number(...keys), 1000);
  const milliseconds = (...keys: readonly string[]) => toMs(fields.number(...keys), 1);
  const start = seconds('startseconds', 'startuptimeoutsec') ?? milliseconds('startuptimeoutms');
  const timeout = fields.number('timeout');
  const silence =
    seconds('callseconds', 'tooltimeoutsec') ??
    milliseconds('tooltimeoutms') ??
    toMs(timeout, timeout !== undefined && timeout < MIN_TIMEOUT_MS ? 1000 : 1);
  const silenceMs = silence ?? DEFAULT_MCP_LIMITS.silenceMs;
  const callMs = seconds('maxcallseconds') ?? DEFAULT_MCP_LIMITS.callMs;
  return {
    startMs: start ?? DEFAULT_MCP_LIMITS.startMs,
    silenceMs,
    callMs: Math.max(callMs, silenceMs),
    taskMs: seconds('maxtaskseconds') ?? DEFAULT_MCP_LIMITS.taskMs,
    idleMs: seconds('idleseconds') ?? DEFAULT_MCP_LIMITS.idleMs,
  };
}

function toMs(value: number | undefined, unitMs: number): number | undefined {
  return value === undefined ? undefined : Math.min(Math.max(value * unitMs, 1), MAX_LIMIT_MS);
}

function readToolFilter(fields: EntryFields): McpToolFilter {
  const all = fields.list('tools', 'includetools', 'enabledtools');
  const some = fields.list('availabletools') ?? [];
  const only = all ?? (some.length === 0 ? null : some);
  const except = fields.list('excludetools', 'disabledtools') ?? [];
  // Copilot writes all tools as `*`, and goose as an empty `available_tools`.
  const isAll = only === null || only.includes('*');
  return { only: isAll ? null : only, except };
}
