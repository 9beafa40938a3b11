import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { generateText, isStepCount, ToolLoopAgent } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, it } from 'vitest';
import { aiSdkAgent, aiSdkTaskTool } from '../../src/ai-sdk.ts';
import { taskTool } from '../../src/library.ts';
import { createScriptedModel } from '../scripted-model.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { open } from './support.ts';

const usage = {
  inputTokens: { total: 30, noCache: 30, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 12, text: 12, reasoning: undefined },
};

it('a loop of the AI SDK delegates to an agent of Muster', async () => {
  const muster = await open({ model: createScriptedModel(() => ({ text: 'found in a.ts' })) });
  let step = 0;
  const outer = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      step += 1;
      const result = JSON.stringify(prompt.at(-1)).includes('found in a.ts');
      return step === 1
        ? {
            content: [
              {
                type: 'tool-call',
                toolCallId: 'c1',
                toolName: 'Task',
                input: JSON.stringify({ prompt: 'Find it.', agent: 'Explore' }),
              },
            ],
            finishReason: { unified: 'tool-calls', raw: undefined },
            usage,
            warnings: [],
          }
        : {
            content: [{ type: 'text', text: `got it: ${result}` }],
            finishReason: { unified: 'stop', raw: undefined },
            usage,
            warnings: [],
          };
    },
  });
  const { text } = await generateText({
    model: outer,
    prompt: 'Where is it?',
    tools: { Task: aiSdkTaskTool(muster, { agents: ['Explore'] }) },
    stopWhen: isStepCount(5),
  });
  expect(text).toBe('got it: true');
  expect(muster.listTasks().map(({ agent, status }) => [agent, status])).toEqual([
    ['Explore', 'completed'],
  ]);
});

it('a bare loop gets the schema, the result, and an error for the model', async () => {
  const muster = await open({ model: createScriptedModel(() => ({ text: 'done' })) });
  const task = taskTool(muster, { agents: ['Explore'], budget: { turns: 3 } });
  expect(task.inputSchema).toMatchObject({ properties: { agent: { enum: ['Explore'] } } });
  expect(task.description).toContain('- Explore: ');
  const { output, text } = await task.execute({ prompt: 'Look.', agent: 'Explore' });
  expect([output, text]).toEqual(['done', expect.stringContaining('done')]);
  await expect(task.execute({ prompt: 'Look.', agent: 'Nobody' })).rejects.toThrow(
    'agent must be one of Explore',
  );
  expect(() => taskTool(muster, { agents: ['Nobody'] })).toThrow(/no agent "Nobody"; valid: /);
});

it('an abort of the other loop stops the task', async () => {
  const muster = await open({ model: createScriptedModel(() => ({ text: 'x', delayMs: 60_000 })) });
  const controller = new AbortController();
  const running = taskTool(muster).execute(
    { prompt: 'Wait.', agent: 'Explore' },
    { signal: controller.signal },
  );
  setTimeout(() => controller.abort(), 50);
  expect((await running).data.status).toBe('stopped');
});

it('an agent of the AI SDK is an agent of Muster, with its usage', async () => {
  const inner = new ToolLoopAgent({
    model: new MockLanguageModelV4({
      doGenerate: async () => ({
        content: [{ type: 'text', text: 'It is 42.' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      }),
    }),
  });
  const muster = await open({
    model: createScriptedModel((_request, index) =>
      index === 0
        ? {
            calls: [
              {
                name: 'Task',
                input: { description: 'ask', prompt: 'What is it?', subagent_type: 'oracle' },
              },
            ],
          }
        : { text: 'asked' },
    ),
    agents: { oracle: aiSdkAgent('Knows everything.', inner) },
  });
  await muster.run('Go.');
  const child = muster.listTasks().find(({ agent }) => agent === 'oracle');
  expect(child).toMatchObject({ status: 'completed', paidTokens: 42 });
});

it('an MCP server offers the agents of Muster, and a cancelled request stops the task', async () => {
  const muster = await open({
    model: createScriptedModel((request) =>
      JSON.stringify(request).includes('Dawdle')
        ? { text: 'late', delayMs: 60_000 }
        : { text: 'found in a.ts' },
    ),
  });
  const task = taskTool(muster, { agents: ['Explore'] });
  const server = new McpServer({ name: 'muster', version: '1' });
  const { description } = task;
  const inputSchema = fromJsonSchema(task.inputSchema);
  server.registerTool(task.name, { description, inputSchema }, async (input, { mcpReq }) => {
    const { text, status } = await task.execute(input, { signal: mcpReq.signal });
    return { content: [{ type: 'text', text }], isError: status === 'error' };
  });
  const client = new Client({ name: 'test', version: '1' });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await server.connect(there);
  await client.connect(here);
  const call = async (prompt: string, agent: string, signal?: AbortSignal) =>
    await client.callTool(
      { name: 'Task', arguments: { prompt, agent } },
      signal === undefined ? {} : { signal },
    );
  expect(await call('Find it.', 'Explore')).toMatchObject({
    content: [{ type: 'text', text: expect.stringContaining('found in a.ts') }],
    isError: false,
  });
  expect(await call('Find it.', 'Nobody')).toMatchObject({
    content: [{ text: expect.stringContaining('agent must be equal to one of') }],
    isError: true,
  });
  const abort = new AbortController();
  const waiting = call('Dawdle.', 'Explore', abort.signal);
  await waitUntilPasses(() => expect(muster.listTasks()).toHaveLength(2));
  abort.abort();
  await expect(waiting).rejects.toThrow();
  await waitUntilPasses(() =>
    expect(muster.listTasks().map(({ status }) => status)).toEqual(['stopped', 'completed']),
  );
  await client.close();
});
