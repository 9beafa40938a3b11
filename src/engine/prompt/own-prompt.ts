import type { AgentDefinition, AgentParameter } from '../../protocol/agent.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';

/** Characters of what is said of one parameter. */
const MAX_SHOWN = 400;

/** An agent's own part of the system prompt, with what stands for its `{{ name }}`; empty for none. */
export function ownPrompt({ prompt, parameters = [] }: AgentDefinition): string {
  const own = prompt.trim();
  if (own === '' || parameters.length === 0) return own;
  return `${own}

## Parameters
Where \`{{ name }}\` stands above, read what the task says it is, or else:
${parameters.map((each) => `- ${parameterLine(each)}`).join('\n')}`;
}

function parameterLine({ name, description, default: preset }: AgentParameter): string {
  const about = description === '' ? '' : ` (${shown(description)})`;
  return preset === undefined
    ? `${shown(name)}${about}: not given; work it out from the task, and say what you took it for`
    : `${shown(name)}${about}: ${preset === '' ? 'nothing' : shown(preset)}`;
}

function shown(text: string): string {
  return truncate(collapseWhitespace(text), MAX_SHOWN);
}
