import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import { splitArguments } from '../../base/split-arguments.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { A2aServer, AcpProgram } from '../../protocol/remote-agent.ts';
import { readA2aServer } from './a2a.ts';
import { fieldText, textList } from './common.ts';
import type { FieldReader } from './field-reader.ts';

/** The names of the fields that name a program or a server which does the work of an agent. */
export const REMOTE_FIELDS = ['acp', 'a2a'] as const;

/**
 * Reads `acp: {command, args, env, state, mode}` or `acp: COMMAND LINE`, and `a2a: {card, auth}` or `a2a: URL`. An agent whose
 * field cannot be read is unusable, because a model must not do the work in its place.
 */
export function readRemoteFields(
  reader: FieldReader,
  { model }: Pick<AgentDefinition, 'model'>,
): Pick<AgentDefinition, 'remote' | 'unusable'> {
  const acp = reader.take('acp');
  const a2a = reader.take('a2a');
  const field = acp ?? a2a;
  if (field === undefined || field.value === null) return {};
  const report = (message: string): { readonly unusable: string } => {
    reader.warn('invalid-remote', message, field.line);
    return { unusable: message };
  };
  if (acp !== undefined && a2a !== undefined)
    return report('It has both `acp` and `a2a`; only one of them can do its work.');
  const remote = acp === undefined ? readServer(field.value) : readProgram(field.value);
  if (typeof remote === 'string') return report(remote);
  if (model !== undefined || reader.peek('models') !== undefined) {
    const message =
      'The program or server of a remote agent chooses its model itself; `model` has no effect.';
    reader.warn('remote-model', message, field.line);
  }
  return { remote };
}

const ACP_FORM = '`acp` must be a command line, or `{command, args, env, state, mode}`';

/** Reads a program. Returns the problem if it cannot be read. */
function readProgram(value: JsonValue): AcpProgram | string {
  if (typeof value === 'string') return readCommandLine(value);
  if (!isJsonObject(value)) return `${ACP_FORM}.`;
  const { command, args = [], env = {}, state = [], mode, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `${ACP_FORM}; \`${unknown}\` is not known.`;
  const program = fieldText(command);
  if (program === undefined) return `${ACP_FORM}; \`command\` is missing.`;
  if (!Array.isArray(args) || !args.every((each) => typeof each === 'string'))
    return `${ACP_FORM}; \`args\` must be a list of texts.`;
  if (!isJsonObject(env) || !Object.values(env).every(isPlainValue))
    return `${ACP_FORM}; \`env\` must be a map from names to texts.`;
  const directories = textList(state);
  const relative = directories.find((each) => !/^(?:\/|~\/)/.test(each));
  if (relative !== undefined)
    return `${ACP_FORM}; \`state\` must be a list of directories that begin with / or ~/.`;
  return {
    protocol: 'acp',
    command: program,
    args,
    env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, String(text)])),
    ...(directories.length === 0 ? {} : { state: directories }),
    ...dropMissing({ mode: fieldText(mode) }),
  };
}

function isPlainValue(value: JsonValue | undefined): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function readCommandLine(line: string): AcpProgram | string {
  const [command, ...args] = splitArguments(line);
  if (command === undefined) return `${ACP_FORM}; the command line is empty.`;
  return { protocol: 'acp', command, args, env: {} };
}

const A2A_FORM = '`a2a` must be the URL of an agent card, or `{card, auth}`';

/** Reads a server. Returns the problem if it cannot be read. */
function readServer(value: JsonValue): A2aServer | string {
  const { card, auth, ...others }: JsonObject =
    isJsonObject(value) && ('card' in value || 'auth' in value) ? value : { card: value };
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `${A2A_FORM}; \`${unknown}\` is not known.`;
  return readA2aServer(card, auth);
}
