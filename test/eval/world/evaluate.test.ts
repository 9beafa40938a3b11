import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { needs } from '../../needs.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';
import { processesWith, writeExampleTasks } from '../example-tasks.ts';
import { runRunner, startRunner } from './runner.ts';

let place: string;
let tasks: string;
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'muster-eval-test-')));
  tasks = join(place, 'tasks');
});
afterEach(() => rmSync(place, { recursive: true, force: true, maxRetries: 5 }));

/** Writes the example tasks and what the scripted model does with them, and returns the arguments of a run. */
function prepare(script: Readonly<Record<string, string>>, out = 'out'): readonly string[] {
  writeExampleTasks(
    tasks,
    Object.entries(script).map(([name, kind]) => ({ name, kind })),
  );
  writeFileSync(join(place, 'script.json'), JSON.stringify(script));
  const files = ['--tasks', tasks, '--script', join(place, 'script.json')];
  return ['--model', 'scripted', ...files, '--out', join(place, out)];
}

function readLines(out: string): readonly Readonly<Record<string, unknown>>[] {
  const file = join(place, out, 'results.jsonl');
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Lists the agents and checks of an evaluation. */
const agentsOf = (out: string) => processesWith('EVAL_OUT', join(place, out));

/** Replaces what differs from run to run: times, the version and the hash of the tasks. */
function normalize(report: string): string {
  return report
    .replaceAll(/\d+\.\d s/g, 'TIME')
    .replaceAll(/Muster \S+, tasks [0-9a-f]{12}/g, 'Muster VERSION, tasks HASH')
    .replaceAll(/in a sandbox|without a sandbox/g, 'SANDBOX');
}

/** The time after which the agent that hangs is ended. The others need a second or two. */
const LIMIT = ['--max-seconds', '40'];

const BEHAVIOURS = {
  claim: 'claim',
  delegate: 'delegate',
  peek: 'peek',
  solve: 'solve',
  tamper: 'tamper',
};

it('reports exactly what the scripted model did', async () => {
  const args = prepare({ ...BEHAVIOURS, hang: 'hang' });
  const { code, stdout } = await runRunner(...args, '--jobs', '3', ...LIMIT);
  const report = readFileSync(join(place, 'out', 'report.md'), 'utf8');
  expect(normalize(report)).toMatchInlineSnapshot(`
    "# Evaluation of scripted

    Muster VERSION, tasks HASH, 12 runs. The hidden checks ran SANDBOX.

    ## By form of tools and delegation

    | tools | delegation | runs | solved | 95 % | turns | subagents | input | output | cached | cost | time |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | auto | off | 6 | 2 (33 %) | 10 %–70 % | 4 | 0 | 4,000 | 400 | 0 % | $0.057 | TIME |
    | auto | on | 6 | 2 (33 %) | 10 %–70 % | 4 | 1 | 4,000 | 400 | 0 % | $0.063 | TIME |
    | all |  | 12 | 4 (33 %) | 14 %–61 % | 4 | 1 | 4,000 | 400 | 0 % | $0.120 | TIME |

    ## By language

    | language | runs | solved | 95 % | turns | subagents | input | output | cached | cost | time |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | shell | 12 | 4 (33 %) | 14 %–61 % | 4 | 1 | 4,000 | 400 | 0 % | $0.120 | TIME |

    ## By kind of work

    | kind | runs | solved | 95 % | turns | subagents | input | output | cached | cost | time |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | claim | 2 | 0 (0 %) | 0 %–66 % | 2 | 0 | 2,000 | 200 | 0 % | $0.012 | TIME |
    | delegate | 2 | 2 (100 %) | 34 %–100 % | 5 | 1 | 5,000 | 500 | 0 % | $0.030 | TIME |
    | hang | 2 | 0 (0 %) | 0 %–66 % | 1 | 0 | 1,000 | 100 | 0 % | $0.006 | TIME |
    | peek | 2 | 0 (0 %) | 0 %–66 % | 4 | 0 | 4,000 | 400 | 0 % | $0.024 | TIME |
    | solve | 2 | 2 (100 %) | 34 %–100 % | 4 | 0 | 4,000 | 400 | 0 % | $0.024 | TIME |
    | tamper | 2 | 0 (0 %) | 0 %–66 % | 4 | 0 | 4,000 | 400 | 0 % | $0.024 | TIME |
    | all | 12 | 4 (33 %) | 14 %–61 % | 4 | 1 | 4,000 | 400 | 0 % | $0.120 | TIME |

    ## Not solved

    - \`claim.off.auto.1\`: the hidden check exited with 1 (agent: completed)
    - \`claim.on.auto.1\`: the hidden check exited with 1 (agent: completed)
    - \`hang.off.auto.1\`: the hidden check exited with 1 (agent: partial)
    - \`hang.on.auto.1\`: the hidden check exited with 1 (agent: partial)
    - \`peek.off.auto.1\`: the hidden check exited with 1 (agent: completed)
    - \`peek.on.auto.1\`: the hidden check exited with 1 (agent: completed)
    - \`tamper.off.auto.1\`: the hidden check exited with 1 (agent: completed)
    - \`tamper.on.auto.1\`: the hidden check exited with 1 (agent: completed)
    "
  `);
  expect(stdout).toBe(`${report}\nResults: ${join(place, 'out', 'results.jsonl')}\n`);
  expect(code).toBe(0);
  const results = readLines('out');
  expect(results.find(({ id }) => id === 'delegate.on.auto.1')).toEqual({
    id: 'delegate.on.auto.1',
    task: 'delegate',
    language: 'shell',
    kind: 'delegate',
    delegation: true,
    shape: 'auto',
    solved: true,
    outcome: 'judged',
    status: 'completed',
    reason: null,
    seconds: expect.any(Number),
    checkExitCode: 0,
    turns: 6,
    subagents: 1,
    input: 6000,
    output: 600,
    cacheRead: 0,
    cacheWrite: 0,
    costUsd: 0.018,
    receipt: { filesChanged: ['greet.sh'], commands: 1, refusals: 0 },
  });
  // Each run keeps its events, its receipt, its changes, its logs and the output of the check.
  const kept = (name: string) =>
    readFileSync(join(place, 'out', 'runs', 'solve.off.auto.1', name), 'utf8');
  expect(kept('changes.patch')).toContain('\n+echo "hello, world"\n');
  expect(kept('check.txt')).toBe('');
  expect(JSON.parse(kept('result.json'))).toMatchObject({
    data: { status: 'completed', receipt: { commands: [{ command: 'sh test.sh', exitCode: 0 }] } },
  });
  // What peeks, is refused; what tampers, passes the visible check only.
  const events = readFileSync(join(place, 'out/runs/tamper.on.auto.1/events.jsonl'), 'utf8');
  expect(events).toContain('"command":"sh test.sh","exitCode":0');
  expect(results.find(({ id }) => id === 'peek.on.auto.1')).toMatchObject({
    solved: false,
    receipt: { filesChanged: [], refusals: 1 },
  });
});

it('solves a task in the form of each family', async () => {
  const args = prepare({ solve: 'solve' });
  const shapes = ['--family-shape', 'all', '--delegation', 'off'];
  const { code } = await runRunner(...args, ...shapes, '--jobs', '2');
  expect(code).toBe(0);
  const results = readLines('out').map(({ shape, solved, turns }) => ({ shape, solved, turns }));
  expect(results.toSorted((a, b) => (String(a.shape) < String(b.shape) ? -1 : 1))).toEqual(
    ['gemini', 'kimi', 'muster', 'openai', 'qwen'].map((shape) => ({
      shape,
      solved: true,
      turns: 4,
    })),
  );
});

it('continues after kill -9, ends the agent that was left, and repeats no finished run', async () => {
  const args = prepare({ ...BEHAVIOURS, 'a-hang': 'hang' });
  const started = startRunner([...args, '--jobs', '3']);
  // The first two runs hang, so results show that others run at the same time.
  await waitUntilPasses(() => expect(readLines('out').length).toBeGreaterThanOrEqual(3));
  const { child } = started;
  expect(agentsOf('out').length).toBeGreaterThan(0);
  const second = await runRunner(...args);
  expect(second).toEqual({
    code: 2,
    stdout: '',
    stderr: `process ${child.pid} is at work in ${join(place, 'out')}\n`,
  });
  child.kill('SIGKILL');
  await started.end;
  const before = readFileSync(join(place, 'out/results.jsonl'), 'utf8');
  appendFileSync(join(place, 'out/results.jsonl'), '{"id":"torn');

  const { code, stdout, stderr } = await runRunner(...args, '--jobs', '3', ...LIMIT);
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  const finished = before.split('\n').length - 1;
  expect(stderr).toContain(`${finished} of 12 runs are done already.\n`);
  const text = readFileSync(join(place, 'out/results.jsonl'), 'utf8');
  expect(text.startsWith(before)).toBe(true);
  const ids = [...text.matchAll(/^\{"id":"([^"]+)",/gm)].map(([, id]) => id);
  expect(ids).toHaveLength(12);
  expect(new Set(ids).size).toBe(12);
  expect(agentsOf('out')).toEqual([]);

  // The figures are those of a run without an interruption.
  const whole = await runRunner(
    ...prepare({ ...BEHAVIOURS, 'a-hang': 'hang' }, 'whole'),
    '--jobs',
    '3',
    ...LIMIT,
  );
  const withoutPath = (report: string) => normalize(report).replace(/^Results: .*$/m, '');
  expect(withoutPath(stdout)).toBe(withoutPath(whole.stdout));
});

it('ends its agents when it is interrupted, and continues afterwards', async () => {
  const args = prepare({ 'a-hang': 'hang', solve: 'solve' });
  const started = startRunner([...args, '--jobs', '4']);
  await waitUntilPasses(() => expect(readLines('out')).toHaveLength(2));
  expect(agentsOf('out').length).toBeGreaterThan(0);
  started.child.kill('SIGINT');
  const { code, stdout, stderr } = await started.end;
  expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  expect(stderr).toMatch(/Stopping\. The same command continues the evaluation\.\n$/);
  expect(agentsOf('out')).toEqual([]);
  expect(readLines('out').map(({ task }) => task)).toEqual(['solve', 'solve']);
  const second = await runRunner(...args, '--jobs', '4', '--max-seconds', '10');
  expect(second.code).toBe(0);
  expect(second.stderr).toContain('2 of 4 runs are done already.\n');
});

it('ends a hidden check whose runner was killed', async () => {
  writeExampleTasks(tasks, [
    { name: 'slow', fields: { hiddenCheck: 'sleep 600', checkSeconds: 900 } },
    { name: 'solve' },
  ]);
  const args = ['--model', 'scripted', '--tasks', tasks, '--delegation', 'off'];
  const started = startRunner([...args, '--out', join(place, 'out')]);
  const hasCheck = () =>
    agentsOf('out').some((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('600'));
  await waitUntilPasses(() => expect(hasCheck()).toBe(true));
  started.child.kill('SIGKILL');
  await started.end;
  expect(hasCheck()).toBe(true);
  // Other arguments are another evaluation for the settings, but the leftovers are ended all the same.
  const again = startRunner([...args, '--out', join(place, 'out')]);
  await waitUntilPasses(() => expect(again.errors()).toContain('solve.off.auto.1: solved'));
  const running = agentsOf('out').filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('muster.js\0sandbox'),
  );
  expect(running.length).toBeLessThanOrEqual(1);
  again.child.kill('SIGTERM');
  expect((await again.end).code).toBe(143);
  expect(agentsOf('out')).toEqual([]);
});

it('goes on after an agent has left what cannot be copied', async () => {
  const args = prepare({ litter: 'litter', solve: 'solve' });
  const { code } = await runRunner(...args, '--delegation', 'off');
  expect(code).toBe(0);
  expect(readLines('out')).toMatchObject([
    {
      id: 'litter.off.auto.1',
      outcome: 'judged',
      solved: false,
      reason: expect.stringMatching(/^what the agent left cannot be copied: /),
    },
    { id: 'solve.off.auto.1', solved: true },
  ]);
});

it('refuses to continue with another configuration', async () => {
  writeExampleTasks(tasks, [{ name: 'one' }]);
  const config = join(place, 'config.toml');
  const args = ['--model', 'local/m', '--tasks', tasks, '--out', join(place, 'out')];
  const rest = ['--config', config, '--delegation', 'off'];
  writeFileSync(config, '[output]\nread_bytes = 1000\n');
  expect((await runRunner(...args, ...rest)).code).toBe(1);
  writeFileSync(config, '[output]\nread_bytes = 2000\n');
  const second = await runRunner(...args, ...rest);
  expect(second).toMatchObject({ code: 2, stdout: '' });
  expect(second.stderr).toMatch(/holds results with config [0-9a-f]{12}, and this would be/);
});

it.runIf(needs('bwrap', 'bubblewrap'))('stops when the disk is full, with its agents', async () => {
  const args = prepare({ 'a-hang': 'hang', solve: 'solve', solved: 'solve' });
  mkdirSync(join(place, 'out'));
  // The results are on a disk of 100 KB, which two runs fill.
  const disk = ['--size', '100000', '--tmpfs', join(place, 'out')];
  const { code, stderr } = await startRunner(
    [...args, '--delegation', 'off', '--jobs', '2'],
    ['bwrap', '--dev-bind', '/', '/', ...disk, '--'],
  ).end;
  expect(code).toBe(1);
  expect(stderr).toContain('ENOSPC');
  expect(agentsOf('out')).toEqual([]);
});

it('compares two evaluations', async () => {
  const first = prepare(BEHAVIOURS, 'first');
  expect(await runRunner(...first, '--delegation', 'on', '--jobs', '3')).toMatchObject({ code: 0 });
  const second = prepare({ ...BEHAVIOURS, claim: 'solve', solve: 'claim' }, 'second');
  writeExampleTasks(
    tasks,
    Object.entries(BEHAVIOURS).map(([name, kind]) => ({ name, kind })),
  );
  expect(await runRunner(...second, '--jobs', '3')).toMatchObject({ code: 0 });
  const directories = ['first', 'second'].map((name) => join(place, name));
  const { code, stdout } = await runRunner('--compare', ...directories);
  expect(code).toBe(0);
  const text = stdout
    .replaceAll(place, 'PLACE')
    .replaceAll(/[0-9a-f]{12}/g, 'HASH')
    .replaceAll(/ \d+\.\d+ \|\n/g, ' TIME |\n');
  expect(text).toMatchInlineSnapshot(`
    "# Comparison of two evaluations

    |  | model | Muster | tasks | results |
    | --- | --- | --- | --- | --- |
    | A: \`PLACE/first\` | scripted | 0.1.0 | HASH | 5 |
    | B: \`PLACE/second\` | scripted | 0.1.0 | HASH | 10 |

    5 runs are in both. 5 results have no counterpart and are left out.

    ## Solved

    |  | runs | A | B | both | only A | only B | neither | chance |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | auto, delegation on | 5 | 2 (40 %) | 2 (40 %) | 1 | 1 | 1 | 2 | TIME |

    The last column is the probability that two equally good sides differ at least this much by chance. Above 0.05, the difference shows nothing yet.

    ## Effort, on the runs that both solved

    |  | runs | turns | input | output | cost | time |
    | --- | --- | --- | --- | --- | --- | --- |
    | auto, delegation on | 1 | 1.00 | 1.00 | 1.00 | 1.00 | TIME |

    The figures are medians of B ÷ A: below 1, B needs less.

    ## Different results

    - \`claim.on.auto.1\`: only B solved it
    - \`solve.on.auto.1\`: only A solved it
    "
  `);
  expect(await runRunner('--compare', join(place, 'first'), place)).toEqual({
    code: 2,
    stdout: '',
    stderr: `${place} holds no results of an evaluation\n`,
  });
});

it('says that a provider cannot be reached, and tries again at the next start', async () => {
  writeExampleTasks(tasks, [{ name: 'one' }]);
  const config = join(place, 'config.toml');
  const provider = (url: string) =>
    `[models.providers.local]\nkind = "openai-chat"\nbase_url = "${url}"\napi_key_env = "ABSENT_KEY"\n`;
  writeFileSync(config, provider('http://127.0.0.1:9/v1'));
  const args = ['--model', 'local/m', '--tasks', tasks, '--out', join(place, 'out')];
  const rest = ['--config', config, '--delegation', 'off'];
  for (const attempt of [1, 2]) {
    const { code, stdout } = await runRunner(...args, ...rest);
    expect(code).toBe(1);
    expect(stdout).toContain('**1 runs failed before they could be judged.**');
    expect(stdout).toContain('- `one.off.auto.1`: ');
    expect(readLines('out')).toHaveLength(attempt);
  }
  const other = await runRunner('--model', 'scripted', ...args.slice(2));
  expect(other).toMatchObject({ code: 2, stdout: '' });
  expect(other.stderr).toContain(
    'holds results with model local/m, and this would be scripted: choose another directory with --out',
  );
});

it('does not run tasks whose programs are missing, and names them', async () => {
  writeExampleTasks(tasks, [
    { name: 'able' },
    { name: 'lacking', fields: { needs: { 'no-such-compiler': 'no-such-package' } } },
  ]);
  const { code, stdout } = await runRunner(
    '--model',
    'scripted',
    '--tasks',
    tasks,
    '--out',
    join(place, 'out'),
    '--delegation',
    'off',
  );
  expect(code).toBe(0);
  expect(stdout).toContain('## Not run\n\n- `lacking`: needs no-such-compiler\n');
  expect(readLines('out').map(({ id }) => id)).toEqual(['able.off.auto.1']);
});

it('ends a hidden check that takes too long, with everything that it started', async () => {
  const marker = join(place, 'marker');
  writeExampleTasks(tasks, [
    {
      name: 'slow',
      fields: {
        hiddenCheck: `EVAL_MARKER=${marker} sleep 600 & EVAL_MARKER=${marker} sleep 600`,
        checkSeconds: 3,
      },
    },
  ]);
  const { code } = await runRunner(
    '--model',
    'scripted',
    '--tasks',
    tasks,
    '--out',
    join(place, 'out'),
    '--delegation',
    'off',
  );
  expect(code).toBe(0);
  expect(readLines('out')).toMatchObject([
    { solved: false, checkExitCode: null, reason: 'the hidden check took over 3 s' },
  ]);
  expect(processesWith('EVAL_MARKER', marker)).toEqual([]);
});
