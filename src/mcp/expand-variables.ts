import { UsageError } from '../base/errors.ts';
import type { Environment } from '../sys/env.ts';
import { isWebUrl } from './read-entry.ts';
import type { OAuthSettings } from './oauth-settings.ts';
import type { McpServerEntry, McpServerOrigin, McpTransport } from './server-entry.ts';

/** The values of `${VAR}` in entries. */
export interface VariableSource {
  readonly environment: Environment;
  /** The variables that hold keys of Muster itself. Only a file of the user may name them. */
  readonly ownSecrets: ReadonlySet<string>;
  /** The absolute path of the project, for `${workspaceFolder}` and `${CLAUDE_PROJECT_DIR}`. */
  readonly project: string;
  /** The home directory of the user, for `${userHome}`. */
  readonly home: string;
}

/** An entry whose texts may contain variables. */
export interface ExpandableEntry extends Pick<McpServerEntry, 'name' | 'origin' | 'transport'> {
  /** The kind of the entry, for messages. Default: `server`. */
  readonly noun?: 'agent' | 'server';
}

/** The transport of an entry with all variables replaced, and the variables that were used. */
export interface ExpandedTransport {
  readonly transport: McpTransport;
  /** The values by name. They may be secret. */
  readonly used: ReadonlyMap<string, string>;
}

/** Matches `${NAME}`, `${env:NAME}` and both with `:-default`. */
const VARIABLE = /\$\{([^}]*)\}/g;
const NAMED = /^(?:env:)?([A-Za-z_]\w*)(?::-(.*))?$/s;
/** The names that stand for directories instead of variables. */
const DIRECTORIES: ReadonlySet<string> = new Set([
  'workspaceFolder',
  'CLAUDE_PROJECT_DIR',
  'userHome',
]);

/**
 * Replaces the variables in the command, arguments, environment, directory, URL, headers and login of an entry.
 * Throws a UsageError that names the file, the server, the field and the variable if a variable has neither a value nor
 * a default, or if an entry of a project names a key of Muster.
 */
export function expandTransport(entry: ExpandableEntry, source: VariableSource): ExpandedTransport {
  const used = new Map<string, string>();
  const expand = (field: string, text: string): string =>
    text.replaceAll(VARIABLE, (_, inside: string) => {
      const { name, value } = resolve(entry, field, inside, source);
      used.set(name, value);
      return value;
    });
  const expandMap = (field: string, map: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(map).map(([name, text]) => [name, expand(`${field}.${name}`, text)]),
    );
  const { transport } = entry;
  if (transport.type === 'stdio') {
    const expanded = {
      ...transport,
      command: expand('command', transport.command),
      args: transport.args.map((text, index) => expand(`args[${index}]`, text)),
      env: expandMap('env', transport.env),
      cwd: transport.cwd === null ? null : expand('cwd', transport.cwd),
    };
    return { transport: expanded, used };
  }
  const url = expand('url', transport.url);
  if (!isWebUrl(url)) {
    throw fieldError(entry, 'url', 'it must be a URL that begins with http:// or https://');
  }
  const { oauth } = transport;
  return {
    transport: {
      ...transport,
      url,
      headers: expandMap('headers', transport.headers),
      ...(oauth === undefined ? {} : { oauth: expandSettings(oauth, expand) }),
    },
    used,
  };
}

function expandSettings(
  settings: OAuthSettings,
  expand: (field: string, text: string) => string,
): OAuthSettings {
  const { clientId, clientSecret, privateKey, issuer, clientMetadataUrl } = settings;
  const each = (field: string, text: string | null): string | null =>
    text === null ? null : expand(`oauth.${field}`, text);
  return {
    ...settings,
    clientId: each('client_id', clientId),
    clientSecret: each('client_secret', clientSecret),
    privateKey: each('private_key', privateKey),
    issuer: each('issuer', issuer),
    clientMetadataUrl: each('client_metadata_url', clientMetadataUrl),
  };
}

/**
 * Returns the address of a server by which its login is stored. A server of a project has a login of its own: the file
 * with its entry is the fragment of the address, so that the project does not get the login of another entry.
 */
export function toLoginKey(url: string, { scope, file }: McpServerOrigin): string {
  const key = new URL(url);
  key.hash = scope === 'project' ? encodeURIComponent(file) : '';
  return key.href;
}

/** Tells whether a login that is stored by a key is one to the server with this address, of whichever entry. */
export function isLoginTo(url: string, key: string): boolean {
  const [server, login] = [new URL(url), new URL(key)];
  for (const each of [server, login]) each.hash = '';
  return server.href === login.href;
}

/** Lists the environment variables that an entry names, in the order of their first occurrence. */
export function listVariables(transport: McpTransport): readonly string[] {
  const texts =
    transport.type === 'stdio'
      ? [
          transport.command,
          ...transport.args,
          ...Object.values(transport.env),
          ...(transport.cwd === null ? [] : [transport.cwd]),
        ]
      : [transport.url, ...Object.values(transport.headers), ...listTexts(transport.oauth)];
  const names = new Set<string>();
  for (const [, inside = ''] of texts.join('\n').matchAll(VARIABLE)) {
    const name = NAMED.exec(inside)?.[1];
    if (name !== undefined && !DIRECTORIES.has(name)) names.add(name);
  }
  return [...names];
}

function listTexts(settings: OAuthSettings | undefined): readonly string[] {
  const { clientId, clientSecret, privateKey, issuer, clientMetadataUrl } = settings ?? {};
  return [clientId, clientSecret, privateKey, issuer, clientMetadataUrl].flatMap(
    (text) => text ?? [],
  );
}

interface Variable {
  readonly name: string;
  readonly value: string;
}

function resolve(
  entry: ExpandableEntry,
  field: string,
  inside: string,
  { environment, ownSecrets, project, home }: VariableSource,
): Variable {
  if (inside === 'workspaceFolder' || inside === 'CLAUDE_PROJECT_DIR') {
    return { name: inside, value: project };
  }
  if (inside === 'userHome') return { name: inside, value: home };
  const [, name, fallback] = NAMED.exec(inside) ?? [];
  if (name === undefined) {
    const hint = inside.startsWith('input:')
      ? 'write ${NAME} and set the variable NAME'
      : 'write ${NAME}';
    throw fieldError(entry, field, `\${${inside}} is not supported: ${hint}`);
  }
  if (entry.origin.scope === 'project' && (ownSecrets.has(name) || name.startsWith('MUSTER_'))) {
    const { noun = 'server' } = entry;
    const reason = `a project's ${noun} cannot get ${name}, which belongs to Muster`;
    throw fieldError(
      entry,
      field,
      noun === 'agent'
        ? `${reason}; define the agent in your own configuration if you want that`
        : `${reason}; define the server in your own mcp.json if you want that`,
    );
  }
  const value = environment[name];
  // As in a shell, an empty variable counts as missing for `:-`.
  if (value !== undefined && (value !== '' || fallback === undefined)) return { name, value };
  if (fallback !== undefined) return { name, value: fallback };
  throw fieldError(
    entry,
    field,
    `the variable ${name} is not set; set it, or write a default: \${${name}:-default}`,
  );
}

function fieldError(
  { name, origin, noun = 'server' }: ExpandableEntry,
  field: string,
  message: string,
): UsageError {
  return new UsageError(`${origin.file}: ${noun} ${name}: ${field}: ${message}`);
}
