// Drives an agent with the package acp-factory, whose directory is the first argument. The second one is a JSON object with the
// command of the agent, the working directory, and what to do. Prints the results as JSON on the last line.
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [directory, text] = process.argv.slice(2);
const { command, args, cwd, load, prompts, answer } = JSON.parse(text);
const { AgentFactory } = await import(
  pathToFileURL(join(directory, 'node_modules/acp-factory/dist/index.js')).href
);
const asked = [];
AgentFactory.register('muster', { command, args });
const agent = await AgentFactory.spawn('muster', {
  permissionMode: 'callback',
  onPermissionRequest: async ({ sessionId, toolCall, options }) => {
    asked.push({ sessionId, title: toolCall.title });
    const { optionId } = options.find(({ kind }) => kind === answer);
    return { outcome: { outcome: 'selected', optionId } };
  },
});

async function run(prompt) {
  const session =
    load === undefined ? await agent.createSession(cwd) : await agent.loadSession(load, cwd);
  let said = '';
  for await (const update of session.prompt(prompt)) {
    if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
      said += update.content.text;
  }
  return { id: session.id, said, modes: session.modes };
}

const results = await Promise.all(prompts.map(run));
await agent.close();
// The file with the messages is complete when everything is written.
process.stdout.write(`${JSON.stringify({ results, asked })}\n`);
if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
process.exit(0);
