import { basename, dirname, join, resolve } from 'node:path';
import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import type { AgentDefinition, AgentProblem } from '../../../protocol/agent.ts';
import { isInside } from '../../../base/path-inside.ts';
import { toAbsolutePath } from '../../../sys/files/paths.ts';
import { readPromptText, readSingleLine, fieldText } from '../../fields/common.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import {
  nameFromPath,
  readAgent,
  type AgentDialect,
  type SharedFields,
} from '../../fields/read-agent.ts';
import type { DefinitionFile, FormatReader, FileDefinitions } from '../../loader/format.ts';
import {
  failedFile,
  flattenField,
  type Field,
  toSafeMessage,
  readReferencedText,
  type FieldProblem,
  type Fields,
} from '../../parsing/fields.ts';
import { parseTomlFields } from '../../parsing/toml-fields.ts';

const CODEX: AgentDialect = {
  vendor: 'codex',
  inactive: (
    'approval_policy approvals_reviewer apps compact_prompt features hide_agent_reasoning ' +
    'history hooks include_apply_patch_tool instructions mcp_servers ' +
    'model_auto_compact_token_limit model_context_window model_instructions_file ' +
    'model_provider model_providers model_reasoning_summary ' +
    'model_supports_reasoning_summaries model_verbosity nickname_candidates notify ' +
    'permissions personality profile profiles project_doc_max_bytes sandbox_workspace_write ' +
    'service_tier shell_environment_policy skills tool_output_token_limit tools tui ' +
    'web_search'
  ).split(' '),
  // In Codex, `tools` and `skills` are tables of settings, not lists.
  translate: (fields) => flattenField(flattenField(fields, 'tools'), 'skills'),
  own: { names: ['developer_instructions'], read: readOwn },
};

/** Reads Codex agents: the files `agents/*.toml`, and the agents that a `config.toml` declares. */
export const codexReader: FormatReader = { read: readCodex, referencedFiles: declaredConfigFiles };

/** The fields of which a file that was meant as an agent has at least one. */
const AGENT_FIELDS = ['developer_instructions', 'name', 'description'];

async function readCodex(file: DefinitionFile): Promise<FileDefinitions> {
  const read = await parseTomlFields(file.text);
  if (!read.ok) return failedFile(file, read.problem);
  const agents = read.fields.get('agents');
  if (agents !== undefined) return readCodexConfig(file, agents, (role) => readRole(file, role));
  if (!AGENT_FIELDS.some((name) => read.fields.has(name))) {
    return failedFile(file, { code: 'not-an-agent', message: 'It declares no agent.' });
  }
  const role = await addDeclaration(file, { fields: read.fields, problems: read.problems });
  return { items: [readRole(file, role)], problems: [] };
}

function readRole(file: DefinitionFile, { fields, problems, name }: CodexRole): AgentDefinition {
  const content = { fields, problems, name: name ?? nameFromPath(file.path), prompt: '' };
  return readAgent(content, file, CODEX);
}

function readOwn(reader: FieldReader, shared: SharedFields): Partial<AgentDefinition> {
  return {
    ...readPrompt(reader),
    ...readApproval(reader, shared),
    ...readWebSearch(reader, shared),
    ...readProjectDocs(reader),
  };
}

function readPrompt(reader: FieldReader): Pick<AgentDefinition, 'prompt'> {
  const field = reader.take('developer_instructions');
  const prompt = readPromptText(field?.value);
  if (prompt !== undefined) return { prompt };
  const message = 'There are no `developer_instructions`: the agent has no prompt.';
  reader.warn('missing-prompt', message, field?.line);
  return { prompt: '' };
}

/** Reads `approval_policy`. With `untrusted`, each edit asks, even if the sandbox allows writing. */
function readApproval(reader: FieldReader, { mode }: SharedFields): Partial<AgentDefinition> {
  if (readSingleLine(reader.peek('approval_policy')?.value) !== 'untrusted' || mode === 'plan')
    return {};
  reader.take('approval_policy');
  return { mode: 'default' };
}

/** Reads `project_doc_max_bytes`. Only 0 has an effect in Muster: the agent gets no context files. */
function readProjectDocs(reader: FieldReader): Pick<AgentDefinition, 'contextFiles'> {
  if (reader.peek('project_doc_max_bytes')?.value !== 0) return {};
  reader.take('project_doc_max_bytes');
  return { contextFiles: false };
}

/** Reads `web_search = "disabled"`, and `web_search = false` in `tools`. */
function readWebSearch(reader: FieldReader, shared: SharedFields): Partial<AgentDefinition> {
  const { disallowedTools } = shared;
  const isOff = (field: Field | undefined): boolean =>
    field?.value === 'disabled' || field?.value === false;
  const off = ['web_search', 'tools.web_search'].filter((name) => isOff(reader.peek(name)));
  for (const name of off) reader.take(name);
  return off.length === 0 ? {} : { disallowedTools: [...disallowedTools, 'WebSearch'] };
}

/** An agent whose fields have been parsed, but not yet read. */
interface CodexRole {
  readonly fields: Fields;
  readonly problems: readonly FieldProblem[];
  /** The name for an agent without a `name` field. Default: the name of the file. */
  readonly name?: string;
}

/** A table `[agents.NAME]` in a `config.toml`. */
interface Declaration {
  readonly name: string;
  readonly fields: Fields;
  /** The absolute path of the agent's own file, from `config_file`. */
  readonly path: string | undefined;
}

const CONFIG_FILE_FIELD = 'config_file';

/** Returns the paths of all `config_file` entries in a text, even if it is not valid TOML. */
function declaredConfigFiles(path: string, content: string): readonly string[] {
  const named = content.matchAll(/^[ \t]*config_file[ \t]*=[ \t]*(?:"([^"\n]*)"|'([^'\n]*)')/gm);
  return [...named].map(([, double, single]) =>
    toAbsolutePath(double ?? single ?? '', dirname(path)),
  );
}

function readDeclarations(configPath: string, agents: Field): readonly Declaration[] {
  if (!isJsonObject(agents.value)) return [];
  return Object.entries(agents.value).flatMap(([name, declared]) =>
    isJsonObject(declared)
      ? [readDeclaration(configPath, name, { declared, line: agents.line })]
      : [],
  );
}

function readDeclaration(
  configPath: string,
  name: string,
  { declared, line }: { readonly declared: JsonObject; readonly line: number | undefined },
): Declaration {
  const path = fieldText(declared[CONFIG_FILE_FIELD]);
  const fields = Object.entries(declared)
    .filter(([key]) => key !== CONFIG_FILE_FIELD)
    .map(([key, value]): [string, Field] => [key, { value: value ?? null, line }]);
  return {
    name,
    fields: new Map(fields),
    path: path === undefined ? undefined : toAbsolutePath(path, dirname(configPath)),
  };
}

/**
 * Adds the name and the description to an agent whose own file has none. The `config.toml` next to the `agents`
 * directory declares them.
 */
async function addDeclaration(file: DefinitionFile, role: CodexRole): Promise<CodexRole> {
  if (role.fields.has('name') && role.fields.has('description')) return role;
  const configPath = findConfigPath(file.path);
  const config = configPath === undefined ? undefined : file.readReferenced?.(configPath);
  if (configPath === undefined || config?.ok !== true) return role;
  const read = await parseTomlFields(config.text);
  const agents = read.ok ? read.fields.get('agents') : undefined;
  const found =
    agents && readDeclarations(configPath, agents).find(({ path }) => path === resolve(file.path));
  if (found === undefined) return role;
  return {
    ...role,
    name: found.name,
    fields: new Map([...removeLines(found.fields), ...role.fields]),
  };
}

function findConfigPath(path: string): string | undefined {
  let directory = dirname(resolve(path));
  while (basename(directory) !== 'agents') {
    if (directory === dirname(directory)) return undefined;
    directory = dirname(directory);
  }
  return join(dirname(directory), 'config.toml');
}

/** Removes the line numbers, which would be wrong in messages about another file. */
function removeLines(fields: Fields): Fields {
  return new Map([...fields].map(([key, { value }]) => [key, { value, line: undefined }]));
}

/**
 * Reads the agents that a `config.toml` declares, except agents with a file in the `agents` directory next to it,
 * because the search finds those files itself. The other keys of `[agents]` are limits, which have no effect, because
 * Muster has its own limits.
 */
async function readCodexConfig(
  file: DefinitionFile,
  agents: Field,
  readRole: (role: CodexRole) => AgentDefinition,
): Promise<FileDefinitions> {
  const seen = new Set<string>();
  const items: AgentDefinition[] = [];
  for (const declared of readDeclarations(file.path, agents)) {
    const own = await readOwnFile(file, declared.path, seen);
    if (own.kind === 'elsewhere') continue;
    const { name, fields } = declared;
    if (own.kind === 'read') {
      items.push(readRole({ fields: new Map([...fields, ...own.fields]), problems: [], name }));
    } else {
      const problem = { code: 'config-file', message: own.reason, ...lineField(agents) };
      items.push({ ...readRole({ fields, problems: [problem], name }), unusable: own.reason });
    }
  }
  const problems = findLimitProblems(file, agents);
  return items.length > 0 || problems.length > 0
    ? { items, problems }
    : {
        items,
        problems: [
          createConfigProblem(
            file,
            'not-an-agent',
            'It declares no agent that has no file of its own.',
          ),
        ],
      };
}

function findLimitProblems(file: DefinitionFile, agents: Field): readonly AgentProblem[] {
  if (!isJsonObject(agents.value)) return [];
  const { value } = agents;
  const limits = Object.keys(value).filter((key) => !isJsonObject(value[key]));
  if (limits.length === 0) return [];
  const message = `These keys of \`[agents]\` have no effect: ${limits.join(', ')}. Muster's own limits are in \`[task_tool]\` of its configuration.`;
  return [{ ...createConfigProblem(file, 'inactive-field', message), ...lineField(agents) }];
}

function createConfigProblem(file: DefinitionFile, code: string, message: string): AgentProblem {
  return { code, message: toSafeMessage(message), path: file.path };
}

function lineField({ line }: Field): { readonly line?: number } {
  return line === undefined ? {} : { line };
}

/** The file that `config_file` names. */
type OwnFile =
  | { readonly kind: 'read'; readonly fields: Fields }
  /** The search for agent files finds and reads this file itself. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'unusable'; readonly reason: string };

/**
 * Reads the file that `config_file` names.
 *
 * @param seen the files that the search reads itself; for a second agent with the same file, this function reads the
 * file
 */
async function readOwnFile(
  file: DefinitionFile,
  path: string | undefined,
  seen: Set<string>,
): Promise<OwnFile> {
  if (path === undefined) return { kind: 'read', fields: new Map() };
  const unusable = (reason: string): OwnFile => ({
    kind: 'unusable',
    reason: toSafeMessage(`Its \`${CONFIG_FILE_FIELD}\` ${path} cannot be used: ${reason}`),
  });
  const text = readReferencedText(file, path);
  if (!text.ok) return unusable(text.reason);
  if (isInside(join(dirname(resolve(file.path)), 'agents'), path) && !seen.has(path)) {
    seen.add(path);
    return { kind: 'elsewhere' };
  }
  const read = await parseTomlFields(text.text);
  return read.ok
    ? { kind: 'read', fields: removeLines(read.fields) }
    : unusable(read.problem.message);
}
