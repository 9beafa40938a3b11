import { agentText } from '../../agents/loader/read-text.ts';
import { readTemplate } from '../../agents/templates/read.ts';
import { plural } from '../../base/text.ts';
import { cut, nothing, type Grants } from './grants.ts';

/** What a template of a project would do once it is trusted. */
export async function templateGrants(path: string, bytes: Buffer): Promise<Grants> {
  const content = agentText(bytes);
  if (!content.ok) return nothing(content.reason);
  const read = await readTemplate({ path, scope: 'project', text: content.text });
  if (!read.ok) return nothing(read.problem.message);
  const { name, description, agent, model, body, problems } = read.template;
  const type = agent === undefined ? '' : `, of type ${agent}`;
  const lines = [
    `template ${name}: ${cut(description)}`,
    `runs a task an item${type}${model === undefined ? '' : `, on the model ${model}`}, when you or the model start it`,
    ...problems.map(({ message }) => `! ${message}`),
    `prompt: ${plural(body.split('\n').length, 'line')}; read them in the file`,
  ];
  return { lines, problems: [] };
}
