import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { BIN, Sandbox } from './muster.ts';
import { bash, callsInTurn, openWorld } from './world.ts';

const FILTER = '/proc/self/coredump_filter';

function filterOf(process: string): string {
  return readFileSync(`/proc/${process}/coredump_filter`, 'latin1').trim();
}

describe.runIf(process.platform === 'linux')('dumps of a crash', () => {
  it('of Muster contain no memory, and those of commands contain what the user has set', async () => {
    const filters: string[] = [];
    let pid = 0;
    const answer = callsInTurn([bash(`cat ${FILTER}`)], [bash(`sleep 0.1; cat ${FILTER}`)]);
    await using world = await openWorld({
      bare: true,
      script: (request) => {
        filters.push(filterOf(String(pid)));
        return answer(request);
      },
    });
    const run = world.start(['-p', 'go']);
    pid = run.pid;
    expect((await run.finished).code).toBe(0);
    expect(filters).toEqual(['00000000', '00000000', '00000000']);
    const results = world.model.requests.slice(1).map(({ messages }) => messages.at(-1));
    const texts = results.flatMap((message) => message?.toolResults.map(({ text }) => text) ?? []);
    expect(texts.map((text) => text.split('\n', 1)[0])).toEqual([
      filterOf('self'),
      filterOf('self'),
    ]);
  });

  it.runIf(needs('bwrap', 'bubblewrap'))('of a command of "muster sandbox", too', () => {
    using sandbox = new Sandbox();
    const { stdout } = spawnSync(process.execPath, [BIN, 'sandbox', '--', 'cat', FILTER], {
      cwd: sandbox.workspace,
      env: sandbox.environment(),
      encoding: 'utf8',
    });
    expect(stdout.trim()).toBe(filterOf('self'));
  });

  it('are reports of Node without the environment', async () => {
    await using world = await openWorld({ script: () => ({ fault: { kind: 'hang' } }) });
    const directory = world.sandbox.root;
    const options = `--report-on-signal --report-directory=${directory}`;
    const key = 'sk-of-the-environment';
    const env = { NODE_OPTIONS: options, ANTHROPIC_API_KEY: key };
    const run = world.start(['-p', 'go'], { env });
    await world.model.received(1);
    run.process.kill('SIGUSR2');
    let report: string | undefined;
    while (report === undefined) {
      await sleep(20);
      report = readdirSync(directory).find((name) => name.startsWith('report.'));
    }
    run.process.kill('SIGINT');
    await once(run.process, 'close');
    const text = readFileSync(join(directory, report), 'utf8');
    expect(JSON.parse(text)).toHaveProperty('header.processId', run.pid);
    expect(JSON.parse(text)).not.toHaveProperty('environmentVariables');
    expect(text).not.toContain(key);
  });
});
