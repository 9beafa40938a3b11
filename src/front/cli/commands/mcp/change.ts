import { loadServerCommands } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../../../base/json.ts';
import { toShellWord, truncate } from '../../../../base/text.ts';
import { defineCommand, refuseAgents, type CommandContext } from '../../command.ts';

interface AddOptions {
  readonly name: string;
  readonly entry: JsonObject;
  readonly scope: 'user' | 'project';
  readonly cwd: string | null;
}

/** `muster mcp add` */
export const mcpAddCommand = defineCommand<AddOptions>({
  words: 'mcp add',
  summary: 'add an MCP server: a command after --, or a URL',
  operands: [{ name: 'NAME' }, { name: 'COMMAND…' }],
  flags: ['env', 'header', 'project', 'cwd'],
  examples: [
    'muster mcp add files -- npx -y @modelcontextprotocol/server-filesystem .',
    'muster mcp add docs https://mcp.example.org/mcp --header "Authorization: Bearer ${DOCS_TOKEN}"',
  ],
  parse: ({ operands: [name = '', target = '', ...args], flags, flagsEnded }) => {
    checkName(name);
    const [env, headers] = [flags.texts('env'), flags.texts('header')];
    const isUrl = /^https?:\/\//i.test(target);
    if (!isUrl && (!flagsEnded || OTHER_URL.test(target)))
      throw explainTarget(name, [target, ...args]);
    if (isUrl && env.length > 0) throw new UsageError('--env is for a command, not for a URL');
    if (!isUrl && headers.length > 0)
      throw new UsageError('--header is for a URL, not for a command');
    if (isUrl && args.length > 0)
      throw new UsageError(`unknown argument after the URL: ${args[0]}`);
    const entry = isUrl
      ? { type: 'http', url: target, ...nonEmpty('headers', readPairs(headers, ':')) }
      : { command: target, args, ...nonEmpty('env', readPairs(env, '=')) };
    return {
      name,
      entry,
      scope: flags.has('project') ? 'project' : 'user',
      cwd: flags.text('cwd'),
    };
  },
  run: add,
});

/** `muster mcp add-json` */
export const mcpAddJsonCommand = defineCommand<AddOptions>({
  words: 'mcp add-json',
  summary: 'add an MCP server whose entry is given as JSON',
  operands: [{ name: 'NAME' }, { name: 'JSON' }],
  flags: ['project', 'cwd'],
  examples: [`muster mcp add-json demo '{"command": "node", "args": ["server.js"]}'`],
  parse: ({ operands: [name = '', json = ''], flags }) => {
    checkName(name);
    return {
      name,
      entry: readEntry(json),
      scope: flags.has('project') ? 'project' : 'user',
      cwd: flags.text('cwd'),
    };
  },
  run: add,
});

/** `muster mcp remove` */
export const mcpRemoveCommand = defineCommand({
  words: 'mcp remove',
  summary: 'remove an MCP server from your file or from that of this project',
  operands: [{ name: 'NAME' }],
  flags: ['cwd'],
  examples: ['muster mcp remove docs'],
  parse: ({ operands: [name = ''], flags }) => ({ name, cwd: flags.text('cwd') }),
  run: async ({ name, cwd }, context) => {
    refuseAgents(context.environment, 'remove an MCP server');
    const { removeServer } = await loadServerCommands();
    const file = await removeServer(name, await locate(cwd, context));
    context.out(`Removed ${name} from ${file}.\n`);
    return 0;
  },
});

// oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
const CONTROL = /[\u0000-\u001f\u007f]/;
/** A URL that is not one of HTTP. */
const OTHER_URL = /^[a-z][a-z0-9+.-]*:\/\//i;

function checkName(name: string): void {
  if (CONTROL.test(name)) {
    const shown = JSON.stringify(name);
    throw new UsageError(`the name ${shown} contains a line break or another control character`);
  }
}

/** Explains what to write instead of a target that is neither a URL nor a command after `--`. */
function explainTarget(name: string, words: readonly string[]): UsageError {
  const [target = ''] = words;
  const shown = JSON.stringify(truncate(target, MAX_SHOWN_TARGET));
  if (OTHER_URL.test(target)) {
    return new UsageError(
      `${shown} is no address of an MCP server: it must begin with http:// or https://`,
    );
  }
  const command = words.map(toShellWord).join(' ');
  const looksLikeHost = words.length === 1 && /^[\w-]+(?:\.[\w-]+)+(?:[:/]|$)/.test(target);
  const url = looksLikeHost ? `https://${target}` : 'https://…';
  return new UsageError(
    `${shown} is neither a URL nor a command after --; write "muster mcp add ${toShellWord(name)} -- ${truncate(command, MAX_SHOWN_TARGET)}" for a program, or "muster mcp add ${toShellWord(name)} ${url}" for an address`,
  );
}

const MAX_SHOWN_TARGET = 200;

async function add({ cwd, ...server }: AddOptions, context: CommandContext): Promise<number> {
  refuseAgents(context.environment, 'add an MCP server');
  const { addServer } = await loadServerCommands();
  const file = await addServer(server, await locate(cwd, context));
  context.out(
    `Added ${server.name} to ${file}. Try it: muster mcp test ${toShellWord(server.name)}\n`,
  );
  if (server.scope === 'project') {
    context.out(
      'A server of a project is used after you have trusted the file: muster trust add .mcp.json\n',
    );
  }
  return 0;
}

async function locate(cwd: string | null, context: CommandContext) {
  const { stateLocation } = await import('../../configuration.ts');
  return stateLocation({ cwd, dataDir: null }, context);
}

function readEntry(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    throw new UsageError(`the entry is not JSON: ${thrown.message}`);
  }
  throw new UsageError('the entry must be a JSON object');
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

function nonEmpty(
  name: string,
  pairs: Readonly<Record<string, string>>,
): Readonly<Record<string, JsonObject>> {
  return Object.keys(pairs).length === 0 ? {} : { [name]: pairs };
}
