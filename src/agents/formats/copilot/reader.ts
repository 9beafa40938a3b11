import type { AgentDefinition } from '../../../protocol/agent.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { readServerNames, SERVERS_FIELD } from '../../fields/server-names.ts';
import { takeBoolean, textList } from '../../fields/common.ts';
import type { FormatReader } from '../../loader/format.ts';
import {
  readMarkdownAgent,
  type AgentDialect,
  type SharedFields,
} from '../../fields/read-agent.ts';

const COPILOT: AgentDialect = {
  vendor: 'copilot',
  inactive:
    'argument-hint handoffs hooks mcp-servers metadata target user-invocable user-invokable'.split(
      ' ',
    ),
  own: {
    names: ['agents', 'disable-model-invocation', 'infer', 'hidden', SERVERS_FIELD],
    read: (reader, shared) => {
      const servers = readServerNames(reader, shared);
      const limited = { ...shared, ...servers, tools: shared.tools };
      return { ...servers, ...readInvocation(reader), ...readDelegates(reader, limited) };
    },
  },
};

/**
 * Reads the `*.agent.md` files of GitHub Copilot and VS Code, and `*.chatmode.md` files, as they were called before.
 */
export const copilotReader: FormatReader = {
  read: (file) =>
    readMarkdownAgent(file, { ...COPILOT, loadsBareText: AGENT_PATH.test(file.path) }),
};

/**
 * Matches the paths of files that need no front matter. Other files in `.github` without front matter are documents.
 */
const AGENT_PATH = /\.(?:agent|chatmode)\.md$|\/(?:agents|chatmodes)\/[^/]*$/i;

/** Reads whether models can choose the agent. `disable-model-invocation` has precedence over the older `infer`. */
function readInvocation(reader: FieldReader): Pick<AgentDefinition, 'unlisted'> {
  const disabled = takeBoolean(reader, 'disable-model-invocation');
  const infer = takeBoolean(reader, 'infer');
  const hidden = takeBoolean(reader, 'hidden');
  const unlisted = disabled ?? (infer === undefined ? hidden : !infer);
  return unlisted === true ? { unlisted } : {};
}

type Delegates = Pick<Partial<AgentDefinition>, 'delegatesTo' | 'disallowedTools'>;

/** Reads `agents`, the agents to which the agent may delegate: `*` means all agents, and an empty list means none. */
function readDelegates(reader: FieldReader, shared: SharedFields): Delegates {
  const field = reader.take('agents');
  if (field === undefined || field.value === null) return {};
  const names = textList(field.value);
  if (names.includes('*')) return {};
  if (names.length === 0) return { disallowedTools: [...shared.disallowedTools, 'Task'] };
  if (!shared.tools.names.includes('Task')) {
    const message =
      '`agents` says which agents it may delegate to, but `tools` does not list `agent`, which delegation needs.';
    reader.warn('agents-without-task', message, field.line);
  }
  const { delegatesTo } = shared;
  return { delegatesTo: names.filter((name) => delegatesTo?.includes(name) ?? true) };
}
