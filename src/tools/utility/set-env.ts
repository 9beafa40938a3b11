import { MusterError } from '../../base/errors.ts';
import { byteLength } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import { REDACTED } from '../../protocol/redaction.ts';
import type { VariablePort } from '../../protocol/tool.ts';
import { isVariableName, mayBeSet } from '../../sys/command-environment.ts';
import { defineTool } from '../shared/define-tool.ts';

const MAX_NAME = 100;
const MAX_VALUE_BYTES = 8192;
const MAX_VARIABLES = 64;

/**
 * It changes what every later command does, so it is judged as one is. A command that was proved to
 * change nothing runs without it: the proof knows no such variable.
 */
export const setEnvTool = defineTool({
  name: 'SetEnv',
  kind: 'execute',
  replay: 'pure',
  ownWords: true,
  description: 'Set an environment variable for your later Bash commands; without value, unset it.',
  input: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1 },
      value: { type: 'string', emptyIsValue: true },
    },
    required: ['name'],
  },
  aliases: { key: 'name', variable: 'name', var: 'name' },
  describe: () => NO_ACCESS,
  async run({ name, value }, { variables }) {
    requireSettable(name);
    const own = variables.own();
    if (value === undefined) {
      if (!own.has(name)) throw new MusterError('NOT_FOUND', `${name} was not set by this task`);
      return { text: `${name} is unset.`, facts: { variables: { [name]: null } } };
    }
    requireKept(name, value, variables);
    if (own.size >= MAX_VARIABLES && !own.has(name)) {
      throw new MusterError('LIMIT_EXCEEDED', `a task sets at most ${MAX_VARIABLES} variables`);
    }
    const text = `${name} is set for your later commands, not for those of other tasks.`;
    return { text, facts: { variables: { [name]: value } } };
  },
});

function requireSettable(name: string): void {
  if (name.length > MAX_NAME || !isVariableName(name)) {
    const valid = `letters, digits and _, no digit first, at most ${MAX_NAME} characters`;
    throw new MusterError('INVALID_PARAM', `name: is no name of a variable; valid: ${valid}`);
  }
  if (mayBeSet(name)) return;
  throw new MusterError(
    'PERMISSION_DENIED',
    `${name} says where programs, code or settings come from, or is Muster's own: it is not set for later commands. Set it in the one command that needs it (${name}=… command), which is judged as it stands.`,
  );
}

/** The variable has to survive in the log, as it is. */
function requireKept(name: string, value: string, variables: VariablePort): void {
  if (value.includes('\0')) {
    throw new MusterError('INVALID_PARAM', 'value: contains a NUL character');
  }
  if (byteLength(value) > MAX_VALUE_BYTES) {
    throw new MusterError('LIMIT_EXCEEDED', `value: is longer than ${MAX_VALUE_BYTES} bytes`);
  }
  if (!value.includes(REDACTED) && variables.keeps(value)) return;
  throw new MusterError(
    'INVALID_PARAM',
    `value: holds a secret, or the mark of one, which the log does not keep. Let the user pass ${name} on with sandbox.env, or read it from a file in the command.`,
  );
}
