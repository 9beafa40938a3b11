import { plural } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { VariablePort } from '../../protocol/tool.ts';
import { isVariableName, mayBeSet } from '../../sys/command-environment.ts';
import { holdsCredentials, isSecretVariable } from '../../sys/secret-variables.ts';
import { defineTool } from '../shared/define-tool.ts';
import { failure, fitLines } from '../shared/output.ts';

const NOTE_BYTES = 200;
const MAX_VALUE = 10_000;

export const getEnvTool = defineTool({
  name: 'GetEnv',
  // After what was set in the same message.
  kind: 'read',
  replay: 'pure',
  description: 'An environment variable as Bash commands see it; without a name, the names of all.',
  input: { type: 'object', properties: { name: { type: 'string' } }, required: [] },
  aliases: { key: 'name', variable: 'name', var: 'name' },
  describe: () => NO_ACCESS,
  async run({ name = '' }, { variables, caps }) {
    if (name === '') return { text: listed(variables, caps.resultBytes) };
    const seen = variables.seen();
    const value = Object.hasOwn(seen, name) ? seen[name] : undefined;
    if (value === undefined) return failure('NOT_FOUND', notSeen(name));
    if (isHidden(name, value, variables)) {
      return { text: `${name} is set. Its value is hidden: it is a secret.` };
    }
    const most = Math.min(MAX_VALUE, caps.resultBytes - NOTE_BYTES);
    if (value.length <= most) return { text: `${name}=${value}` };
    return { text: `${name}=${value.slice(0, most)}\n[cut at ${most} characters]` };
  },
});

function listed(variables: VariablePort, maxBytes: number): string {
  const own = variables.own();
  const lines = Object.entries(variables.seen())
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => {
      const marks = [
        ...(own.has(name) ? ['set by this task'] : []),
        ...(isHidden(name, value, variables) ? ['hidden'] : []),
      ];
      return marks.length === 0 ? name : `${name} (${marks.join(', ')})`;
    });
  const { lines: shown, left } = fitLines(lines, maxBytes - NOTE_BYTES);
  return [...shown, ...(left === 0 ? [] : [`[${plural(left, 'more name')}]`])].join('\n');
}

/** By its name, by what Muster takes for a secret, or by a password in it. */
function isHidden(name: string, value: string, variables: VariablePort): boolean {
  return isSecretVariable(name) || holdsCredentials(value) || !variables.keeps(value);
}

function notSeen(name: string): string {
  if (!isVariableName(name)) return `${JSON.stringify(name)} is no name of a variable`;
  const how = mayBeSet(name) ? 'SetEnv sets it, or the user' : 'The user';
  return `${name} is not passed on to commands. ${how} passes it on with sandbox.env.`;
}
