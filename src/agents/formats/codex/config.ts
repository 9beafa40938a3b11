import { basename, dirname, join, resolve } from 'node:path';
import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import type { AgentDefinition, AgentProblem } from '../../../protocol/agent.ts';
import { absolutePath, isInside } from '../../../sys/paths.ts';
import type { Field, FieldProblem, Fields } from '../../parsing/fields.ts';
import { shownMessage } from '../../fields/clean-text.ts';
import { text } from '../../fields/common.ts';
import type { DefinitionFile, FileDefinitions } from '../../loader/format.ts';
import { otherText } from '../../parsing/other-file.ts';
import { parseTomlFields } from '../../parsing/toml-fields.ts';

/** One agent before its fields are read. */
export interface Role {
  readonly fields: Fields;
  readonly problems: readonly FieldProblem[];
  /** The name where no field gives one. Default: the file's. */
  readonly name?: string;
}

/** `[agents.NAME]` of a `config.toml`. */
interface Declaration {
  readonly name: string;
  readonly fields: Fields;
  /** The file that it names as its own, absolute. */
  readonly path: string | undefined;
}

const OWN_FILE = 'config_file';

/** The paths that `config_file` may name in a text, whatever else it holds. */
export function configFiles(path: string, content: string): readonly string[] {
  const named = content.matchAll(/^[ \t]*config_file[ \t]*=[ \t]*(?:"([^"\n]*)"|'([^'\n]*)')/gm);
  return [...named].map(([, double, single]) =>
    absolutePath(double ?? single ?? '', dirname(path)),
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
  const path = text(declared[OWN_FILE]);
  const fields = Object.entries(declared)
    .filter(([key]) => key !== OWN_FILE)
    .map(([key, value]): [string, Field] => [key, { value: value ?? null, line }]);
  return {
    name,
    fields: new Map(fields),
    path: path === undefined ? undefined : absolutePath(path, dirname(configPath)),
  };
}

/**
 * An agent's own file with the gaps filled by what the `config.toml` beside its `agents` directory
 * declares of it: only there does it stand when neither name nor description is in the file.
 */
export async function withDeclaration(file: DefinitionFile, role: Role): Promise<Role> {
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

/** Lines of one file mean nothing in another. */
function withoutLines(fields: Fields): Fields {
  return new Map([...fields].map(([key, { value }]) => [key, { value, line: undefined }]));
}

/**
 * The agents that a `config.toml` declares and that have no file in the `agents` directory beside it,
 * which would speak for itself. The other keys of `[agents]` are limits; Muster has its own.
 */
export async function readCodexConfig(
  file: DefinitionFile,
  agents: Field,
  readRole: (role: Role) => AgentDefinition,
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
    : { items, problems: [told(file, 'not-an-agent', 'It declares no agent without a file.')] };
}

function limitProblems(file: DefinitionFile, agents: Field): readonly AgentProblem[] {
  if (!isJsonObject(agents.value)) return [];
  const { value } = agents;
  const limits = Object.keys(value).filter((key) => !isJsonObject(value[key]));
  if (limits.length === 0) return [];
  const message = `Of \`[agents]\` these do nothing: ${limits.join(', ')}. The limits of Muster stand in \`[task_tool]\` of its own configuration.`;
  return [{ ...told(file, 'inactive-field', message), ...lineOf(agents) }];
}

function told(file: DefinitionFile, code: string, message: string): AgentProblem {
  return { code, message: shownMessage(message), path: file.path };
}

function lineOf({ line }: Field): { readonly line?: number } {
  return line === undefined ? {} : { line };
}

type OwnFile =
  | { readonly kind: 'read'; readonly fields: Fields }
  /** It is found and read where it lies. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'unusable'; readonly reason: string };

/** `seen`: files that have been left to themselves. A second agent of the same file is declared here. */
async function readOwnFile(
  file: DefinitionFile,
  path: string | undefined,
  seen: Set<string>,
): Promise<OwnFile> {
  if (path === undefined) return { kind: 'read', fields: new Map() };
  const unusable = (why: string): OwnFile => ({
    kind: 'unusable',
    reason: shownMessage(`Its \`${OWN_FILE}\` ${path} cannot be used: ${why}`),
  });
  const other = otherText(file, path);
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
