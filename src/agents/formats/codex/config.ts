import { basename, dirname, join, resolve } from 'node:path';
import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import type { AgentDefinition, AgentProblem } from '../../../protocol/agent.ts';
import { toAbsolutePath, isInside } from '../../../sys/files/paths.ts';
import {
  readReferencedText,
  type Field,
  type FieldProblem,
  type Fields,
} from '../../parsing/fields.ts';
import { shownMessage } from '../../fields/clean-text.ts';
import { fieldText } from '../../fields/common.ts';
import type { DefinitionFile, FileDefinitions } from '../../loader/format.ts';
import { parseTomlFields } from '../../parsing/toml-fields.ts';

/** An agent before its fields are read. */
export interface CodexRole {
  readonly fields: Fields;
  readonly problems: readonly FieldProblem[];
  /** The name for an agent without a `name` field. Default: the name of the file. */
  readonly name?: string;
}

/** A table `[agents.NAME]` in a `config.toml`. */
interface Declaration {
  readonly name: string;
  readonly fields: Fields;
  /** The absolute path of the agent's own file, which `config_file` names. */
  readonly path: string | undefined;
}

const OWN_FILE = 'config_file';

/** Returns the paths of all `config_file` entries in a text, even if it is not valid TOML. */
export function declaredConfigFiles(path: string, content: string): readonly string[] {
  const named = content.matchAll(/^[ \t]*config_file[ \t]*=[ \t]*(?:"([^"\n]*)"|'([^'\n]*)')/gm);
  return [...named].map(([, double, single]) =>
    toAbsolutePath(double ?? single ?? '', dirname(path)),
  );
}

function declarations(configPath: string, agents: Field): readonly Declaration[] {
  if (!isJsonObject(agents.value)) return [];
  return Object.entries(agents.value).flatMap(([name, declared]) =>
    isJsonObject(declared) ? [declaration(configPath, name, { declared, line: agents.line })] : [],
  );
}

function declaration(
  configPath: string,
  name: string,
  { declared, line }: { readonly declared: JsonObject; readonly line: number | undefined },
): Declaration {
  const path = fieldText(declared[OWN_FILE]);
  const fields = Object.entries(declared)
    .filter(([key]) => key !== OWN_FILE)
    .map(([key, value]): [string, Field] => [key, { value: value ?? null, line }]);
  return {
    name,
    fields: new Map(fields),
    path: path === undefined ? undefined : toAbsolutePath(path, dirname(configPath)),
  };
}

/**
 * Completes an agent's own file from the `config.toml` next to its `agents` directory, which declares the name and
 * the description that the file does not have.
 */
export async function withDeclaration(file: DefinitionFile, role: CodexRole): Promise<CodexRole> {
  if (role.fields.has('name') && role.fields.has('description')) return role;
  const configPath = configBeside(file.path);
  const config = configPath === undefined ? undefined : file.readReferenced?.(configPath);
  if (configPath === undefined || config?.ok !== true) return role;
  const read = await parseTomlFields(config.text);
  const agents = read.ok ? read.fields.get('agents') : undefined;
  const found =
    agents && declarations(configPath, agents).find(({ path }) => path === resolve(file.path));
  if (found === undefined) return role;
  return {
    ...role,
    name: found.name,
    fields: new Map([...withoutLines(found.fields), ...role.fields]),
  };
}

function configBeside(path: string): string | undefined {
  let directory = dirname(resolve(path));
  while (basename(directory) !== 'agents') {
    if (directory === dirname(directory)) return undefined;
    directory = dirname(directory);
  }
  return join(dirname(directory), 'config.toml');
}

/** Removes the lines, which have no meaning in another file. */
function withoutLines(fields: Fields): Fields {
  return new Map([...fields].map(([key, { value }]) => [key, { value, line: undefined }]));
}

/**
 * Reads the agents that a `config.toml` declares, except those with a file in the `agents` directory next to it,
 * which is found by itself. The other keys of `[agents]` are limits; Muster has its own.
 */
export async function readCodexConfig(
  file: DefinitionFile,
  agents: Field,
  readRole: (role: CodexRole) => AgentDefinition,
): Promise<FileDefinitions> {
  const seen = new Set<string>();
  const items: AgentDefinition[] = [];
  for (const declared of declarations(file.path, agents)) {
    const own = await readOwnFile(file, declared.path, seen);
    if (own.kind === 'elsewhere') continue;
    const { name, fields } = declared;
    if (own.kind === 'read') {
      items.push(readRole({ fields: new Map([...fields, ...own.fields]), problems: [], name }));
    } else {
      const problem = { code: 'config-file', message: own.reason, ...lineOf(agents) };
      items.push({ ...readRole({ fields, problems: [problem], name }), unusable: own.reason });
    }
  }
  const problems = limitProblems(file, agents);
  return items.length > 0 || problems.length > 0
    ? { items, problems }
    : {
        items,
        problems: [
          configProblem(file, 'not-an-agent', 'It declares no agent that has no file of its own.'),
        ],
      };
}

function limitProblems(file: DefinitionFile, agents: Field): readonly AgentProblem[] {
  if (!isJsonObject(agents.value)) return [];
  const { value } = agents;
  const limits = Object.keys(value).filter((key) => !isJsonObject(value[key]));
  if (limits.length === 0) return [];
  const message = `These keys of \`[agents]\` have no effect: ${limits.join(', ')}. Muster's own limits are in \`[task_tool]\` of its configuration.`;
  return [{ ...configProblem(file, 'inactive-field', message), ...lineOf(agents) }];
}

function configProblem(file: DefinitionFile, code: string, message: string): AgentProblem {
  return { code, message: shownMessage(message), path: file.path };
}

function lineOf({ line }: Field): { readonly line?: number } {
  return line === undefined ? {} : { line };
}

type OwnFile =
  | { readonly kind: 'read'; readonly fields: Fields }
  /** The search finds and reads it by itself. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'unusable'; readonly reason: string };

/** @param seen files that the search reads by itself; a second agent with the same file is read here */
async function readOwnFile(
  file: DefinitionFile,
  path: string | undefined,
  seen: Set<string>,
): Promise<OwnFile> {
  if (path === undefined) return { kind: 'read', fields: new Map() };
  const unusable = (reason: string): OwnFile => ({
    kind: 'unusable',
    reason: shownMessage(`Its \`${OWN_FILE}\` ${path} cannot be used: ${reason}`),
  });
  const other = readReferencedText(file, path);
  if (!other.ok) return unusable(other.reason);
  if (isInside(join(dirname(resolve(file.path)), 'agents'), path) && !seen.has(path)) {
    seen.add(path);
    return { kind: 'elsewhere' };
  }
  const read = await parseTomlFields(other.text);
  return read.ok
    ? { kind: 'read', fields: withoutLines(read.fields) }
    : unusable(read.problem.message);
}
