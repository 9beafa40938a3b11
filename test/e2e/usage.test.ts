import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { addUsage, NO_USAGE } from '../../src/protocol/model.ts';
import { toolResultRounds, WIRE_PROTOCOLS } from '../../src/testing/index.ts';
import { envelopeOf, runMuster, type Running } from './muster.ts';
import { clean, complaint, kill, tasks } from './tasks.ts';
import { openWorld, type World } from './world.ts';

const DELEGATE = {
  toolCalls: [{ name: 'Task', input: { prompt: 'part 1', subagent_type: 'Explore' } }],
};

/** One that the catalogue does not know. */
const FAKE = ['--model', 'anthropic/fake-model'];

function usage(world: World, ...args: readonly string[]) {
  return runMuster(world.sandbox, ['usage', ...args]);
}

async function usageJson(world: World, ...args: readonly string[]) {
  return JSON.parse(clean(await usage(world, '--json', ...args)));
}

async function untilAccepted(running: Running, count: number): Promise<void> {
  while (running.output().split('"type":"turn.accepted"').length <= count) await sleep(5);
}

function withPrice(world: World): void {
  const directory = join(world.sandbox.home, '.config/muster');
  mkdirSync(directory, { recursive: true });
  const lines = [
    '[models.catalogue."anthropic/fake-model"]',
    'price_input = 1_000',
    'price_output = 2_000',
    'output_limit = 777',
  ];
  writeFileSync(join(directory, 'config.toml'), `${lines.join('\n')}\n`);
}

describe.concurrent('muster usage', () => {
  it.each(WIRE_PROTOCOLS)(
    '%s: counts what the server said over a kill -9 in the middle of an answer, and that one apart',
    async (protocol) => {
      let hang = true;
      await using world = await openWorld({
        protocol,
        script: (request) => {
          const isMain = request.tools.some(({ name }) => name === 'Task');
          if (isMain) return toolResultRounds(request) === 0 ? DELEGATE : { text: 'It is done.' };
          const text = 'The child says this. '.repeat(20);
          return hang ? { text, fault: { kind: 'hang_after' } } : { text };
        },
      });
      const first = world.start(['-p', 'go', '--output-format', 'stream-json']);
      await untilAccepted(first, 2);
      await kill(first);
      hang = false;
      const second = await world.run(['--continue', '--output-format', 'json']);
      expect([second.code, second.stderr]).toEqual([0, '']);
      const told = world.model.requests.flatMap(({ outcome }) => outcome.usage ?? []);
      expect([world.model.requests.length, told.length]).toEqual([4, 3]);
      const { total, rows } = await usageJson(world, '--by', 'type');
      expect(total.reported).toMatchObject({
        answers: 3,
        usage: told.reduce(addUsage, NO_USAGE),
      });
      expect(total.estimated).toMatchObject({ answers: 1, usage: { cacheRead: 0 } });
      expect(total.estimated.usage.input).toBeGreaterThan(1000);
      expect(rows.map(({ key }: { key: string }) => key).toSorted()).toEqual(['Explore', 'main']);
      const { task_id: id, receipt } = envelopeOf(second).data;
      const below = await usageJson(world, receipt.children[0] ?? '', '--by', 'task');
      expect(below.total).toMatchObject({ tasks: 1, reported: { answers: 1 } });
      const shown = clean(await tasks(world, 'show', id));
      expect(shown).toMatch(/^tree +2 tasks: \d+ in, \d+ out, \d+ cached, .*estimated: 1 answer/m);
      expect(clean(await usage(world))).toMatch(/^ {2}estimated +1 /m);
    },
  );

  it('names what no price is known for, and where a price is from', async () => {
    await using world = await openWorld({
      script: () => ({ text: 'done', usage: { input: 2000, output: 500 } }),
    });
    await world.run(['-p', 'one', ...FAKE]);
    expect(clean(await usage(world))).toMatch(
      /^total +1 +1 +2,000 +500 .* unknown\n\nPrices: none known\.\nNo price is known for anthropic\/fake-model: set one in \[models\.catalogue/m,
    );
    withPrice(world);
    const second = await world.run(['-p', 'two', '--output-format', 'json', ...FAKE]);
    expect(envelopeOf(second).data.cost_usd).toBe(3);
    expect(world.model.requests[1]?.body['max_tokens']).toBe(777);
    expect(clean(await usage(world))).toMatch(
      /^total .* at least \$3\.0000\n\nPrices: config\.toml/m,
    );
    const { total } = await usageJson(world);
    expect(total.reported).toMatchObject({ costUsd: null, knownCostUsd: 3, unpriced: 1 });
  });

  it('shows what each model cost by type and outcome, also if a task used several', async () => {
    await using world = await openWorld({
      script: ({ model, toolChoice }) => {
        const usage = { input: 1000, output: model === 'strong' ? 500 : 100 };
        if (toolChoice === 'none') return { text: 'as far as I got', usage };
        if (model === 'strong') return { text: 'done', usage };
        return { toolCalls: [{ name: 'LS', input: {} }], usage };
      },
    });
    withPrice(world);
    const strong =
      '[models.catalogue."anthropic/strong"]\nprice_input = 3_000\nprice_output = 8_000\n';
    appendFileSync(join(world.sandbox.home, '.config/muster/config.toml'), strong);
    await world.run(['-p', 'left', '--max-turns', '1', ...FAKE]);
    await world.run(['-p', 'go', '--max-turns', '1', ...FAKE]);
    await world.run(['--continue', '-p', 'again', '--model', 'anthropic/strong']);
    const table = clean(await usage(world, '--by', 'type,model,outcome'));
    expect(table.split('\n').slice(0, 5)).toEqual([
      'type   model                 outcome    tasks  answers  input  output  cache read  cache write  reasoning  cost',
      'main   anthropic/strong      completed  1      1        1,000  500     0           0            0          $7.0000',
      'main   anthropic/fake-model  completed  1      2        2,000  200     0           0            0          $2.4000',
      'main   anthropic/fake-model  partial    1      2        2,000  200     0           0            0          $2.4000',
      'total                                   2      5        5,000  900     0           0            0          $11.8000',
    ]);
    const { by, rows } = await usageJson(world, '--by', 'model', '--by', 'outcome,model');
    expect(by).toEqual(['model', 'outcome']);
    expect(rows[0]).toMatchObject({
      key: 'anthropic/strong, completed',
      keys: { model: 'anthropic/strong', outcome: 'completed' },
      tasks: 1,
      reported: { answers: 1, costUsd: 7 },
    });
    expect((await usageJson(world)).by).toBe('model');
    expect(complaint(await usage(world, '--by', 'model,colour'), 2)).toContain('not "colour"');
  });

  it('reads what an index of before has not from the logs, once', async () => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    await world.run(['-p', 'go']);
    const before = await usageJson(world, '--by', 'task');
    const path = join(world.sandbox.data, 'index.jsonl');
    const stripped = readFileSync(path, 'utf8').replaceAll(/,"ledger":\[.*\](?=\})/g, '');
    expect(stripped).not.toContain('ledger');
    writeFileSync(path, stripped);
    expect(await usageJson(world, '--by', 'task')).toEqual(before);
    expect(readFileSync(path, 'utf8')).toContain('"ledger":[[');
  });

  it('says what is wrong in one line', async () => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    expect(clean(await usage(world))).toBe('Nothing used yet.\n');
    expect(complaint(await usage(world, '--by', 'colour'), 2)).toContain(
      '--by must be one of task',
    );
    expect(complaint(await usage(world, '--since', '2026-02-30'), 2)).toContain('--since must be');
    expect(complaint(await usage(world, 'a', 'b'), 2)).toContain('usage');
    expect(complaint(await usage(world, 'nope'))).toContain('there is no task "nope"');
    expect(clean(await usage(world, '--since', '7d'))).toMatch(/^Nothing used since \d{4}-/);
  });
});
