import { describe, expect, it } from 'vitest';
import {
  firstUserText,
  toolResultRounds,
  type Answer,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { openWorld, type World } from './world.ts';

/** At every moment it is at least a day later in the second of these than in the first. */
const [EARLIER, LATER] = [{ TZ: 'Etc/GMT+12' }, { TZ: 'Pacific/Kiritimati' }];

const NOTICE = /<notice>It is (\d{4}-\d{2}-\d{2}) now\.<\/notice>/g;

function noticesIn(request: RecordedRequest | undefined): readonly string[] {
  return [...JSON.stringify(request?.body).matchAll(NOTICE)].map(([, date = '']) => date);
}

function dateIn(system: string | undefined): string | undefined {
  return /^Date: (\S+)$/m.exec(system ?? '')?.[1];
}

/** The ids of all tasks, parents first. */
async function taskIds(world: World): Promise<readonly string[]> {
  const { stdout } = await world.run(['tasks', 'list', '--all', '--json']);
  const rows: readonly { readonly id: string; readonly depth: number }[] = JSON.parse(stdout);
  return rows.toSorted((x, y) => x.depth - y.depth).map(({ id }) => id);
}

describe.concurrent('a conversation that is resumed on another day', () => {
  it('is told the new date with the next message, and its prefix is the same bytes', async () => {
    await using world = await openWorld({ script: () => ({ text: 'ok' }) });
    const runs = [
      await world.run(['-p', 'one'], { env: EARLIER }),
      await world.run(['-p', 'two', '--continue'], { env: EARLIER }),
      await world.run(['-p', 'three', '--continue'], { env: LATER }),
      await world.run(['-p', 'four', '--continue'], { env: LATER }),
    ];
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(runs.map(() => [0, '']));
    const { requests } = world.model;
    const dates = requests.map(noticesIn);
    const [date = ''] = dates[2] ?? [];
    expect(dates).toEqual([[], [], [date], [date]]);
    expect(date > (dateIn(requests[0]?.system) ?? '9')).toBe(true);
    expect(new Set(requests.map(({ system }) => system)).size).toBe(1);
    const texts = requests[2]?.messages.at(-1)?.text ?? '';
    expect(texts.indexOf('three')).toBeLessThan(texts.indexOf('It is'));
    const [id = ''] = await taskIds(world);
    const rerun = await world.run(['tasks', 'rerun', id]);
    expect([rerun.code, rerun.stderr]).toEqual([0, '']);
  });

  it('repeats a request that was lost byte for byte, and tells the date after that', async () => {
    let hangs = true;
    const script = (request: RecordedRequest): Answer => {
      if (toolResultRounds(request) === 0) {
        return { toolCalls: [{ name: 'Read', input: { file_path: 'a.txt' } }] };
      }
      return hangs ? { fault: { kind: 'hang' } } : { text: 'ok' };
    };
    await using world = await openWorld({ files: { 'a.txt': 'a' }, script });
    const first = world.start(['-p', 'go'], { env: EARLIER });
    await world.model.received(2);
    first.process.kill('SIGKILL');
    await first.finished;
    hangs = false;
    expect((await world.run(['--continue'], { env: LATER })).code).toBe(0);
    expect((await world.run(['-p', 'more', '--continue'], { env: LATER })).code).toBe(0);
    const { requests } = world.model;
    expect(JSON.stringify(requests[2]?.body)).toBe(JSON.stringify(requests[1]?.body));
    expect(requests.map((request) => noticesIn(request).length)).toEqual([0, 0, 0, 1]);
  });

  it('tells a child that is resumed, too', async () => {
    let child = '';
    const script = (request: RecordedRequest): Answer => {
      if (!firstUserText(request).startsWith('go')) return { text: 'child ok' };
      const asked = request.messages.findLast(({ role, text }) => role === 'user' && text !== '');
      if (asked?.text.startsWith('more') && request.messages.at(-1)?.role === 'user') {
        if (toolResultRounds(request) === 1) {
          return { toolCalls: [{ name: 'Task', input: { prompt: 'again', resume: child } }] };
        }
      }
      if (toolResultRounds(request) === 0) {
        return {
          toolCalls: [{ name: 'Task', input: { prompt: 'part', subagent_type: 'Explore' } }],
        };
      }
      return { text: 'ok' };
    };
    await using world = await openWorld({ script });
    expect((await world.run(['-p', 'go'], { env: EARLIER })).code).toBe(0);
    [, child = ''] = await taskIds(world);
    expect((await world.run(['-p', 'more', '--continue'], { env: LATER })).code).toBe(0);
    const ofChild = world.model.requests.filter((each) => firstUserText(each) === 'part');
    expect(ofChild.map((request) => noticesIn(request).length)).toEqual([0, 1]);
    expect(ofChild[1]?.system).toBe(ofChild[0]?.system);
  });
});
