import type { AgentDefinition } from '../../../protocol/agent.ts';
import type { Field } from '../../parsing/fields.ts';
import { configFiles, readCodexConfig, withDeclaration, type Role } from './config.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { promptText, word } from '../../fields/common.ts';
import { notLoaded, spread } from '../../parsing/file-fields.ts';
import type { DefinitionFile, FormatReader, FileDefinitions } from '../../loader/format.ts';
import { CLAUDE_MODES } from '../../fields/modes.ts';
import type { Dialect, SharedFields } from '../../fields/read-agent.ts';
import { nameFromPath, readAgent } from '../../fields/read-agent.ts';
import { parseTomlFields } from '../../parsing/toml-fields.ts';

const CODEX: Dialect = {
  vendor: 'codex',
  modes: CLAUDE_MODES,
  limits: [],
  inactive: [
    'approval_policy',
    'approvals_reviewer',
    'apps',
    'compact_prompt',
    'features',
    'hide_agent_reasoning',
    'history',
    'hooks',
    'include_apply_patch_tool',
    'instructions',
    'mcp_servers',
    'model_auto_compact_token_limit',
    'model_context_window',
    'model_instructions_file',
    'model_provider',
    'model_providers',
    'model_reasoning_summary',
    'model_supports_reasoning_summaries',
    'model_verbosity',
    'nickname_candidates',
    'notify',
    'permissions',
    'personality',
    'profile',
    'profiles',
    'project_doc_max_bytes',
    'sandbox_workspace_write',
    'service_tier',
    'shell_environment_policy',
    'skills',
    'tool_output_token_limit',
    'tools',
    'tui',
    'web_search',
  ],
  loadsBareText: false,
  // `tools` and `skills` are tables of settings there, and no lists.
  translate: (fields) => spread(spread(fields, 'tools'), 'skills'),
  own: { names: ['developer_instructions'], read: readOwn },
};

/** Codex agents: `agents/*.toml`, and those that a `config.toml` declares. */
export const codexReader: FormatReader = { read: readCodex, referencedFiles: configFiles };

/** Keys of which one at least stands in a file that was meant as an agent. */
const TELLING = ['developer_instructions', 'name', 'description'];

async function readCodex(file: DefinitionFile): Promise<FileDefinitions> {
  const read = await parseTomlFields(file.text);
  if (!read.ok) return notLoaded(file, read.problem);
  const agents = read.fields.get('agents');
  if (agents !== undefined) return readCodexConfig(file, agents, (role) => readRole(file, role));
  if (!TELLING.some((name) => read.fields.has(name))) {
    return notLoaded(file, { code: 'not-an-agent', message: 'It declares no agent.' });
  }
  const role = await withDeclaration(file, { fields: read.fields, problems: read.problems });
  return { items: [readRole(file, role)], problems: [] };
}

function readRole(file: DefinitionFile, { fields, problems, name }: Role): AgentDefinition {
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
  const prompt = promptText(field?.value);
  if (prompt !== undefined) return { prompt };
  const message = 'No `developer_instructions`: nothing tells it what it is.';
  reader.warn('missing-prompt', message, field?.line);
  return { prompt: '' };
}

/** Under `untrusted` each edit asks, whatever the sandbox would let it do. */
function readApproval(reader: FieldReader, { mode }: SharedFields): Partial<AgentDefinition> {
  if (word(reader.peek('approval_policy')?.value) !== 'untrusted' || mode === 'plan') return {};
  reader.take('approval_policy');
  return { mode: 'default' };
}

/** Of a number of bytes only 0 means something here: none of the project's instructions. */
function readProjectDocs(reader: FieldReader): Pick<AgentDefinition, 'contextFiles'> {
  if (reader.peek('project_doc_max_bytes')?.value !== 0) return {};
  reader.take('project_doc_max_bytes');
  return { contextFiles: false };
}

/** `web_search = "disabled"`, and `false` among the `tools`. */
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
