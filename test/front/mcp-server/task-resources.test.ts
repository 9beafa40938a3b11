import { describe, expect, test } from 'vitest';
import { toolResultRounds } from '../../../src/testing/index.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';
import { open, serve, type Script } from './http-support.ts';
import { SECRET } from './support.ts';

/** A task that looks, and then says what it has found. */
const looks: Script = {
  script: (request) =>
    toolResultRounds(request) > 0
      ? { text: 'It is in a.ts.' }
      : { toolCalls: [{ name: 'LS', input: { path: '.' } }] },
};
const longs: Script = { script: () => ({ text: 'word '.repeat(250_000) }) };

type Client = Awaited<ReturnType<typeof open>>['client'];

async function runTask(client: Client, prompt = 'Find it.'): Promise<string> {
  const input = { prompt, agent: 'Explore' };
  const { structuredContent } = await client.callTool({ name: 'Task', arguments: input });
  return (structuredContent as { task_id: string }).task_id;
}

async function readText(client: Client, uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri });
  const [content] = contents;
  return content !== undefined && 'text' in content ? content.text : '';
}

describe('the resources of tasks', () => {
  test('are listed with templates, and read', async () => {
    const { client } = await open(await serve(looks), 'old');
    let changes = 0;
    client.setNotificationHandler('notifications/resources/list_changed', () => {
      changes += 1;
    });
    expect((await client.listResources()).resources).toEqual([]);
    const id = await runTask(client);
    const [transcript, receipt] = ['transcript', 'receipt'].map(
      (name) => `muster://tasks/${id}/${name}`,
    );
    const { resources } = await client.listResources();
    expect(resources).toMatchObject([
      { uri: transcript, name: 'transcript of Explore: Find it.', mimeType: 'text/markdown' },
      { uri: receipt, name: 'receipt of Explore: Find it.', mimeType: 'application/json' },
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([
      { name: 'transcript', uriTemplate: 'muster://tasks/{task}/transcript' },
      { name: 'receipt', uriTemplate: 'muster://tasks/{task}/receipt' },
    ]);
    const text = await readText(client, transcript ?? '');
    expect(text).toMatch(
      /^## User\n\nFind it\.\n\n### Call: LS\n\n```\n\{\n {2}"path": "\."\n\}\n```\n\n### Result: LS\n\n[^]*## Answer\n\nIt is in a\.ts\.\n\n$/,
    );
    expect(JSON.parse(await readText(client, receipt ?? ''))).toMatchObject({
      commands: [],
      filesChanged: [],
      endedBecause: expect.any(String),
    });
    await waitUntilPasses(() => expect(changes).toBeGreaterThan(0));
  });

  test('of other clients do not exist, and those without a session are read by the id', async () => {
    const served = await serve(looks);
    const [one, two, three] = [
      await open(served, 'old'),
      await open(served, 'old'),
      await open(served, 'new'),
    ];
    const id = await runTask(one.client);
    for (const { client } of [two, three]) {
      expect((await client.listResources()).resources).toEqual([]);
      await expect(readText(client, `muster://tasks/${id}/transcript`)).rejects.toThrow(
        /not found/i,
      );
    }
    const own = await runTask(three.client);
    expect((await three.client.listResources()).resources).toEqual([]);
    expect(await readText(three.client, `muster://tasks/${own}/transcript`)).toContain('Find it.');
  });

  test.each([
    'muster://tasks/nobody00/transcript',
    'muster://tasks/../transcript',
    'muster://tasks/a/b/transcript',
    'muster://tasks//receipt',
    'file:///etc/passwd',
    'no address',
  ])('do not include %s', async (uri) => {
    const { client } = await open(await serve(looks), 'old');
    await runTask(client);
    await expect(client.readResource({ uri })).rejects.toThrow(/not found|invalid/i);
  });

  test('contain no secrets', async () => {
    const served = await serve(looks);
    const { client } = await open(served, 'old');
    const id = await runTask(client, `Use ${SECRET} for it.`);
    const text = await readText(client, `muster://tasks/${id}/transcript`);
    expect(text).not.toContain(SECRET);
    expect(text).toMatch(/Use \S.* for it\./);
  });

  test('are cut at a length that they name', async () => {
    const { client } = await open(await serve(longs), 'old');
    const id = await runTask(client);
    const text = await readText(client, `muster://tasks/${id}/transcript`);
    expect(text.length).toBeLessThan(1_000_200);
    expect(text).toContain(
      `[The transcript is cut at 1000000 characters. All of it: muster tasks log ${id}]`,
    );
  });
});
