import type { AgentDefinition } from '../../../protocol/agent.ts';
import { failedFile, flattenField, type Field } from '../../parsing/fields.ts';
import { declaredConfigFiles, readCodexConfig, withDeclaration, type CodexRole } from './config.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { promptTextOf, singleLineOf } from '../../fields/common.ts';
import type { DefinitionFile, FormatReader, FileDefinitions } from '../../loader/format.ts';
import {
  nameFromPath,
  readAgent,
  type AgentDialect,
  type SharedFields,
} from '../../fields/read-agent.ts';
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

/** Reads Codex agents: `agents/*.toml`, and those that a `config.toml` declares. */
export const codexReader: FormatReader = { read: readCodex, referencedFiles: declaredConfigFiles };

/** A file that was meant as an agent has at least one of these fields. */
const AGENT_FIELDS = ['developer_instructions', 'name', 'description'];

async function readCodex(file: DefinitionFile): Promise<FileDefinitions> {
  const read = await parseTomlFields(file.text);
  if (!read.ok) return failedFile(file, read.problem);
  const agents = read.fields.get('agents');
  if (agents !== undefined) return readCodexConfig(file, agents, (role) => readRole(file, role));
  if (!AGENT_FIELDS.some((name) => read.fields.has(name))) {
    return failedFile(file, { code: 'not-an-agent', message: 'It declares no agent.' });
  }
  const role = await withDeclaration(file, { fields: read.fields, problems: read.problems });
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
  const prompt = promptTextOf(field?.value);
  if (prompt !== undefined) return { prompt };
  const message = 'There are no `developer_instructions`: the agent has no prompt.';
  reader.warn('missing-prompt', message, field?.line);
  return { prompt: '' };
}

/** Under `untrusted`, each edit asks, whatever the sandbox allows. */
function readApproval(reader: FieldReader, { mode }: SharedFields): Partial<AgentDefinition> {
  if (singleLineOf(reader.peek('approval_policy')?.value) !== 'untrusted' || mode === 'plan')
    return {};
  reader.take('approval_policy');
  return { mode: 'default' };
}

/** Only 0 bytes has a meaning here: none of the project's instructions. */
function readProjectDocs(reader: FieldReader): Pick<AgentDefinition, 'contextFiles'> {
  if (reader.peek('project_doc_max_bytes')?.value !== 0) return {};
  reader.take('project_doc_max_bytes');
  return { contextFiles: false };
}

/** Reads `web_search = "disabled"`, and `web_search = false` in `tools`. */
function readWebSearch(
  reader: FieldReader,
  { disallowedTools }: SharedFields,
): Partial<AgentDefinition> {
  const isOff = (field: Field | undefined): boolean =>
    field?.value === 'disabled' || field?.value === false;
  const off = ['web_search', 'tools.web_search'].filter((name) => isOff(reader.peek(name)));
  for (const name of off) reader.take(name);
  return off.length === 0 ? {} : { disallowedTools: [...disallowedTools, 'WebSearch'] };
}
