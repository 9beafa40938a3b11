import { UsageError } from '../../../../base/errors.ts';
import type { JsonObject } from '../../../../base/json.ts';
import { toShellWord, truncate } from '../../../../base/text.ts';
import type { CommandArguments } from '../../command.ts';
import type { FlagReader } from '../../flag-reader.ts';

/** The owners of the files into which a server can be written. */
export const SERVER_SCOPES = ['user', 'project'] as const;
/** The transports, with the other spelling of `http` that agents use. */
const SERVER_TRANSPORTS = ['stdio', 'http', 'sse', 'streamable-http'] as const;

// oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
const CONTROL = /[\u0000-\u001f\u007f]/;
const WEB_URL = /^https?:\/\//i;
/** A URL that is not one of HTTP. */
const OTHER_URL = /^[a-z][a-z0-9+.-]*:\/\//i;
const HOST = /^[\w-]+(?:\.[\w-]+)+(?:[:/]|$)/;
const MAX_SHOWN_TARGET = 200;
const MIN_TIMEOUT_MS = 1000;
const MAX_PORT = 65_535;

/** The flags of `muster mcp add` that are only for a URL, and those that are only for a command. */
const URL_FLAGS = ['header', 'bearer-token-env-var', 'client-id', 'callback-port'] as const;
const COMMAND_FLAGS = ['env'] as const;

/** Flags of other agents whose meaning Muster does not have, with what to do instead. */
const OTHER_FLAGS: Readonly<Record<string, string>> = {
  '--trust':
    'no server is trusted as a whole; allow its tools with a permission rule: mcp__NAME, or mcp__NAME__TOOL',
  '--client-secret':
    'add the server with "muster mcp add-json" and oauth: { client_id, client_secret_env, issuer }, which names the variable with the secret',
};

export function checkServerName(name: string): void {
  if (CONTROL.test(name)) {
    const shown = JSON.stringify(name);
    throw new UsageError(`the name ${shown} contains a line break or another control character`);
  }
}

/** Reads whose file a server is written into: `--scope user|project`, or `--project`. Default: the user's. */
export function readServerScope(flags: FlagReader): (typeof SERVER_SCOPES)[number] {
  const isProject = flags.has('project');
  if (flags.text('scope') === 'local') {
    throw new UsageError(
      '--scope local: Muster has no servers of yours for one project only; use user (your own file, for all projects) or project (.mcp.json of this project)',
    );
  }
  const scope = flags.choice('scope', SERVER_SCOPES, isProject ? 'project' : 'user');
  if (isProject && scope !== 'project') {
    throw new UsageError('--project and --scope user contradict each other: remove one of them');
  }
  return scope;
}

/** Says what to write instead of a flag that `muster mcp add` does not have; undefined if it is a mere mistake. */
export function explainAddFlag(flag: string, operands: readonly string[]): string | undefined {
  const other = OTHER_FLAGS[flag];
  if (other !== undefined) return other;
  const [name = '', target] = operands;
  if (target === undefined || WEB_URL.test(target)) return undefined;
  return `a command that has flags goes after --: muster mcp add ${toShellWord(name)} -- ${toShellWord(target)} …`;
}

/**
 * Reads the server that `muster mcp add` is to add. The forms of the same command of Claude Code, Codex and Gemini CLI
 * are understood. Throws UsageError for arguments that could mean something else.
 */
export function readAddedServer({ operands, flags, flagsEnded }: CommandArguments): {
  readonly name: string;
  readonly entry: JsonObject;
} {
  const [name = ''] = operands;
  checkServerName(name);
  const { target, args, transport } = readTarget(name, { operands, flags, flagsEnded });
  const wrong = flags.findGivenFlags(transport === 'stdio' ? URL_FLAGS : COMMAND_FLAGS)[0];
  if (wrong !== undefined) {
    const [right, other] = transport === 'stdio' ? ['URL', 'command'] : ['command', 'URL'];
    throw new UsageError(`${wrong} is for a ${right}, not for a ${other}`);
  }
  const env = readPairs(flags.texts('env'), '=');
  const entry =
    transport === 'stdio'
      ? { command: target, args, ...nonEmpty('env', env) }
      : { type: transport, url: target, ...readHttpFields(flags) };
  return { name, entry: { ...entry, ...readCommonFields(flags) } };
}

interface Target {
  readonly target: string;
  readonly args: readonly string[];
  readonly transport: 'stdio' | 'http' | 'sse';
}

function readTarget(name: string, { operands, flags, flagsEnded }: CommandArguments): Target {
  const url = flags.text('url');
  const words = url === null ? operands.slice(1) : [url, ...operands.slice(1)];
  const [target, ...args] = words;
  if (target === undefined) {
    throw new UsageError(
      `muster mcp add needs a URL, or a command after --: muster mcp add ${toShellWord(name)} -- COMMAND`,
    );
  }
  refuseRepeatedValue(target, flags);
  const given = flags.has('transport')
    ? flags.choice('transport', SERVER_TRANSPORTS, 'stdio')
    : null;
  const isUrl = isWebAddress(target, given ?? (url === null ? null : 'http'));
  if (given === 'stdio' && isUrl) {
    throw new UsageError(
      `--transport stdio is for a command, and ${showWord(target)} is a URL: leave out --transport, or write http or sse`,
    );
  }
  if (!isUrl && (given ?? 'stdio') !== 'stdio') {
    throw new UsageError(
      `--transport ${given} needs a URL that begins with http:// or https://, not ${showWord(target)}`,
    );
  }
  if (isUrl) {
    if (args[0] !== undefined) throw new UsageError(`unknown argument after the URL: ${args[0]}`);
    return { target, args, transport: given === 'sse' ? 'sse' : 'http' };
  }
  const isClear = flagsEnded || given === 'stdio' || (args.length > 0 && !HOST.test(target));
  if (!isClear || url !== null || OTHER_URL.test(target)) throw explainTarget(name, words);
  return { target, args, transport: 'stdio' };
}

/** A variable may stand for a URL only if it is said to be one. */
function isWebAddress(target: string, transport: string | null): boolean {
  const isVariable = transport !== null && transport !== 'stdio' && target.startsWith('${');
  return WEB_URL.test(target) || isVariable;
}

/** Throws if a word is a further value of a flag that other agents let stand once for several values. */
function refuseRepeatedValue(target: string, flags: FlagReader): void {
  const [flag, pattern] = flags.has('header')
    ? (['header', /^[\w-]+:\s/] as const)
    : (['env', /^[A-Za-z_]\w*=/] as const);
  if (!pattern.test(target)) return;
  // The value may be a secret, so only the name is shown.
  const name = target.split(/[=:]/, 1)[0] ?? '';
  throw new UsageError(
    `${JSON.stringify(name)} is neither a command nor a URL; repeat --${flag} before each of its values`,
  );
}

/** Explains what to write instead of a target that is neither a URL nor a command after `--`. */
function explainTarget(name: string, words: readonly string[]): UsageError {
  const [target = ''] = words;
  if (OTHER_URL.test(target)) {
    return new UsageError(
      `${showWord(target)} is no address of an MCP server: it must begin with http:// or https://`,
    );
  }
  const command = words.map(toShellWord).join(' ');
  const url = words.length === 1 && HOST.test(target) ? `https://${target}` : 'https://…';
  return new UsageError(
    `${showWord(target)} is neither a URL nor a command after --; write "muster mcp add ${toShellWord(name)} -- ${truncate(command, MAX_SHOWN_TARGET)}" for a program, or "muster mcp add ${toShellWord(name)} ${url}" for an address`,
  );
}

function showWord(word: string): string {
  return JSON.stringify(truncate(word, MAX_SHOWN_TARGET));
}

function readHttpFields(flags: FlagReader): JsonObject {
  const headers = readPairs(flags.texts('header'), ':');
  const variable = flags.text('bearer-token-env-var');
  const token = variable === null ? {} : { Authorization: `Bearer \${${variable}}` };
  const clientId = flags.text('client-id');
  const port = flags.count('callback-port');
  if (port !== null && port > MAX_PORT)
    throw new UsageError(`--callback-port must be at most ${MAX_PORT}`);
  return {
    ...nonEmpty('headers', { ...headers, ...token }),
    ...nonEmpty('oauth', {
      ...(clientId === null ? {} : { client_id: clientId }),
      ...(port === null ? {} : { callback_port: port }),
    }),
  };
}

function readCommonFields(flags: FlagReader): JsonObject {
  const timeout = flags.count('timeout', MIN_TIMEOUT_MS);
  const [included, excluded] = [
    readNames(flags, 'include-tools'),
    readNames(flags, 'exclude-tools'),
  ];
  return {
    ...(timeout === null ? {} : { timeout }),
    ...(included.length === 0 ? {} : { tools: included }),
    ...(excluded.length === 0 ? {} : { disabled_tools: excluded }),
  };
}

/** Reads names with commas between them. */
function readNames(flags: FlagReader, flag: 'include-tools' | 'exclude-tools'): readonly string[] {
  return flags
    .texts(flag)
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Reads texts of the form `NAME=VALUE` or `Name: value`. */
function readPairs(
  texts: readonly string[],
  separator: '=' | ':',
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(separator);
      const form = separator === '=' ? '--env NAME=VALUE' : '--header "Name: value"';
      if (at < 1) throw new UsageError(`${JSON.stringify(text)} is not of the form ${form}`);
      // A value may be a secret, so only the name is shown.
      if (CONTROL.test(text)) {
        const name = JSON.stringify(text.slice(0, at).trim());
        throw new UsageError(
          `${form}: ${name} or its value contains a line break or another control character`,
        );
      }
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()] as const;
    }),
  );
}

function nonEmpty(name: string, fields: JsonObject): JsonObject {
  return Object.keys(fields).length === 0 ? {} : { [name]: fields };
}
