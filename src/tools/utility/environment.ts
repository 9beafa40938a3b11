import { plural, byteLength } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { VariablePort } from '../../protocol/tool.ts';
import { isVariableName, isSettableByTask } from '../../sys/processes/command-environment.ts';
import { holdsCredentials, isSecretVariable } from '../../sys/secret-variables.ts';
import { defineBuiltinTool } from '../shared/define-tool.ts';
import { failure, fitLines } from '../shared/output.ts';
import { MusterError } from '../../base/errors.ts';
import { REDACTED } from '../../protocol/redaction.ts';

const NOTE_BYTES = 200;
const MAX_SHOWN_LENGTH = 10_000;

/** Shows environment variables, except secrets. */
export const getEnvTool = defineBuiltinTool({
  name: 'GetEnv',
  // The kind is not `meta`, so that the call runs after a SetEnv in the same message.
  kind: 'read',
  replay: 'pure',
  description: 'An environment variable as Bash commands see it; without a name, the names of all.',
  input: { type: 'object', properties: { name: { type: 'string' } }, required: [] },
  aliases: { key: 'name', variable: 'name', var: 'name' },
  describe: () => NO_ACCESS,
  async run({ name = '' }, { variables, caps }) {
    if (name === '') return { text: listVariables(variables, caps.resultBytes) };
    const seen = variables.seen();
    const value = Object.hasOwn(seen, name) ? seen[name] : undefined;
    if (value === undefined) return failure('NOT_FOUND', describeMissing(name));
    if (isHidden(name, value, variables)) {
      return { text: `${name} is set. Its value is hidden: it is a secret.` };
    }
    const maxLength = Math.min(MAX_SHOWN_LENGTH, caps.resultBytes - NOTE_BYTES);
    if (value.length <= maxLength) return { text: `${name}=${value}` };
    return { text: `${name}=${value.slice(0, maxLength)}\n[cut at ${maxLength} characters]` };
  },
});

function listVariables(variables: VariablePort, maxBytes: number): string {
  const ownVariables = variables.own();
  const lines = Object.entries(variables.seen())
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => {
      const marks = [
        ...(ownVariables.has(name) ? ['set by this task'] : []),
        ...(isHidden(name, value, variables) ? ['hidden'] : []),
      ];
      return marks.length === 0 ? name : `${name} (${marks.join(', ')})`;
    });
  const { lines: shown, remaining } = fitLines(lines, maxBytes - NOTE_BYTES);
  return [...shown, ...(remaining === 0 ? [] : [`[${plural(remaining, 'more name')}]`])].join('\n');
}

/**
 * Returns whether a value must not be shown, because its name suggests a secret, it contains a password, or the log
 * redacts it.
 */
function isHidden(name: string, value: string, variables: VariablePort): boolean {
  return isSecretVariable(name) || holdsCredentials(value) || !variables.keeps(value);
}

function describeMissing(name: string): string {
  if (!isVariableName(name)) return `${JSON.stringify(name)} is not a valid variable name`;
  const how = isSettableByTask(name) ? 'SetEnv sets it, or the user' : 'The user';
  return `${name} is not passed on to commands. ${how} passes it on with sandbox.env.`;
}

const MAX_NAME_LENGTH = 100;
const MAX_VALUE_BYTES = 8192;
const MAX_VARIABLES = 64;

/**
 * Sets an environment variable for later commands. Because this can change what these commands do, permission rules
 * treat the tool like a command, and the permission decision refuses variables that a task may not set. Commands that
 * were proved to be read-only run without these variables, because the proof does not know them.
 */
export const setEnvTool = defineBuiltinTool({
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
  // A call with an invalid name sets nothing, because it fails when it runs.
  describe: ({ name }) => (isValidName(name) ? { ...NO_ACCESS, variables: [name] } : NO_ACCESS),
  async run({ name, value }, { variables }) {
    requireValidName(name);
    const ownVariables = variables.own();
    if (value === undefined) {
      if (!ownVariables.has(name))
        throw new MusterError('NOT_FOUND', `${name} was not set by this task`);
      return { text: `${name} is unset.`, facts: { variables: { [name]: null } } };
    }
    requireLoggable(name, value, variables);
    if (ownVariables.size >= MAX_VARIABLES && !ownVariables.has(name)) {
      throw new MusterError('LIMIT_EXCEEDED', `a task sets at most ${MAX_VARIABLES} variables`);
    }
    const text = `${name} is set for your later commands, not for those of other tasks.`;
    return { text, facts: { variables: { [name]: value } } };
  },
});

function isValidName(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && isVariableName(name);
}

function requireValidName(name: string): void {
  if (isValidName(name)) return;
  const valid = `letters, digits and _, no digit first, at most ${MAX_NAME_LENGTH} characters`;
  throw new MusterError('INVALID_PARAM', `name: is not a valid variable name; valid: ${valid}`);
}

/** Throws MusterError for a value that the log cannot keep unchanged. */
function requireLoggable(name: string, value: string, variables: VariablePort): void {
  if (value.includes('\0')) {
    throw new MusterError('INVALID_PARAM', 'value: contains a NUL character');
  }
  if (byteLength(value) > MAX_VALUE_BYTES) {
    throw new MusterError('LIMIT_EXCEEDED', `value: is longer than ${MAX_VALUE_BYTES} bytes`);
  }
  if (!value.includes(REDACTED) && variables.keeps(value)) return;
  const message = `value: contains a secret or its redaction mark, which the log does not keep. Ask the user to pass ${name} on with sandbox.env, or read it from a file in the command.`;
  throw new MusterError('INVALID_PARAM', message);
}
