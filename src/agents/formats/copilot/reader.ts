import type { AgentDefinition } from '../../../protocol/agent.ts';
import type { FieldReader } from '../../fields/field-reader.ts';
import { takeFlag, textList } from '../../fields/common.ts';
import type { FormatReader } from '../../loader/format.ts';
import { CLAUDE_MODES } from '../../fields/modes.ts';
import type { Dialect, SharedFields } from '../../fields/read-agent.ts';
import { readMarkdownAgent } from '../../fields/read-agent.ts';

const COPILOT: Dialect = {
  vendor: 'copilot',
  modes: CLAUDE_MODES,
  limits: [],
  inactive: [
    'argument-hint',
    'handoffs',
    'hooks',
    'mcp-servers',
    'metadata',
    'target',
    'user-invocable',
    'user-invokable',
  ],
  loadsBareText: false,
  own: {
    names: ['agents', 'disable-model-invocation', 'infer', 'hidden'],
    read: (reader, shared) => ({ ...readInvocation(reader), ...readDelegates(reader, shared) }),
  },
};

/** GitHub Copilot's and VS Code's `*.agent.md`, and the `*.chatmode.md` that they were before. */
export const copilotReader: FormatReader = {
  read: (file) =>
    readMarkdownAgent(file, { ...COPILOT, loadsBareText: AGENT_PATH.test(file.path) }),
};

/** Where a header is not needed; other files of `.github` are documents. */
const AGENT_PATH = /\.(?:agent|chatmode)\.md$|\/(?:agents|chatmodes)\/[^/]*$/i;

/** `disable-model-invocation` goes before `infer`, which it replaced. */
function readInvocation(reader: FieldReader): Pick<AgentDefinition, 'unlisted'> {
  const disabled = takeFlag(reader, 'disable-model-invocation');
  const infer = takeFlag(reader, 'infer');
  const hidden = takeFlag(reader, 'hidden');
  const unlisted = disabled ?? (infer === undefined ? hidden : !infer);
  return unlisted === true ? { unlisted } : {};
}

type Delegates = Pick<Partial<AgentDefinition>, 'delegatesTo' | 'disallowedTools'>;

/** `agents`: whom it may delegate to, `*` for all, and an empty list for nobody. */
function readDelegates(reader: FieldReader, shared: SharedFields): Delegates {
  const field = reader.take('agents');
  if (field === undefined || field.value === null) return {};
  const names = textList(field.value);
  if (names.includes('*')) return {};
  if (names.length === 0) return { disallowedTools: [...shared.disallowedTools, 'Task'] };
  if (!shared.tools.names.includes('Task')) {
    const message =
      '`agents` says whom it may delegate to, and `tools` lists no `agent`, which it takes.';
    reader.warn('agents-without-task', message, field.line);
  }
  const { delegatesTo } = shared;
  return { delegatesTo: names.filter((name) => delegatesTo?.includes(name) ?? true) };
}
