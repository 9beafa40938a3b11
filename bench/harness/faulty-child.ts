import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Rule } from '../../src/testing/rules.ts';
import type { Fixture } from './fixture.ts';
import { answeredAt, byTask, startModelServer, type Exchange } from './model-server.ts';
import { PseudoTerminal } from './pseudo-terminal.ts';
import { median, quantile } from './statistics.ts';

/** What the process of the child does while the keys are pressed. */
export const FAULTS = ['spin', 'allocate', 'flood'] as const;
export type Fault = (typeof FAULTS)[number];

/** The time for which keys are pressed, and the time between two of them. */
const WATCHED_MS = 4_000;
const KEY_MS = 97;
/** The time between the beginning of the fault and the first key. */
const SETTLE_MS = 500;
const POLL_MS = 20;
/** Characters that nothing else draws. Two keys in a row differ, so that an older one is not taken for the newer. */
const KEYS = ['§', '¤', '¶', '±'];
const START_HINT = '/help';
const LEAVE = ['\u0003', '\u0003', '\u0003'];
const SIBLINGS = ['the first sibling', 'the second sibling'];
const TURNS = 300;
/** How long the model takes for each answer to a child. */
const TURN_MS = 50;
const AGENT = 'reader';
const PROMPT = 'Have the files read.';

/** A run of the terminal UI with two siblings at work. Times are milliseconds. */
export interface WatchedRun {
  /** The 95th percentile of the time from a key to its picture. */
  readonly keyMs: number;
  /** The median of the time from the last byte of an answer to a sibling to the sibling's next request. */
  readonly turnMs: number;
}

/**
 * Copies the built program. In the copy, some files make the process of a task misbehave. Returns the path of its bin.
 */
export function copyWithFaultyProcess(fixture: Fixture, bin: string): string {
  const built = dirname(bin);
  const copy = fixture.path('package');
  cpSync(built, join(copy, 'dist'), { recursive: true });
  cpSync(join(built, '../package.json'), join(copy, 'package.json'));
  symlinkSync(join(built, '../node_modules'), join(copy, 'node_modules'));
  const program = fileURLToPath(new URL('../programs/faulty-task-process.ts', import.meta.url));
  writeFileSync(join(copy, 'dist/task-process.js'), `import ${JSON.stringify(program)};\n`);
  return join(copy, 'dist', basename(bin));
}

/** Runs the terminal UI with two siblings, and beside them a task with a process that misbehaves, or none. */
export async function watchScreen(
  fixture: Fixture,
  bin: string,
  fault: Fault | null,
): Promise<WatchedRun> {
  const names = [...SIBLINGS, ...(fault === null ? [] : [fault])];
  for (const name of names) writeFileSync(join(fixture.workspace, fileOf(name)), LINES);
  const begun = join(fixture.workspace, 'begun');
  rmSync(begun, { force: true });
  const home = fixture.newHome();
  writeAgent(home);
  await using server = await startModelServer(fixture, [
    ...names.flatMap(childRules),
    { when: { promptIncludes: PROMPT, toolResults: 0 }, answer: { toolCalls: names.map(taskFor) } },
    { answer: { text: 'Done.' } },
  ]);
  const env = fixture.environment(home, { ...server.env('anthropic'), TERM: 'xterm-256color' });
  await using terminal = new PseudoTerminal([bin], { cwd: fixture.workspace, env });
  await terminal.sees(START_HINT);
  terminal.type(`${PROMPT}\r`);
  // The main agent has asked once, and each sibling at least twice.
  while ((await server.stats()).requests < 1 + 2 * names.length) await sleep(POLL_MS);
  if (fault !== null) while (!existsSync(begun)) await sleep(POLL_MS);
  await sleep(SETTLE_MS);
  const from = performance.timeOrigin + performance.now();
  const delays = await pressKeys(terminal);
  const until = performance.timeOrigin + performance.now();
  await terminal.leave(LEAVE);
  const exchanges = await server.finish();
  const turns = SIBLINGS.flatMap((name) => turnTimes(exchanges, name, { from, until }));
  return { keyMs: quantile(delays, 0.95), turnMs: median(turns) };
}

const LINES = Array.from({ length: TURNS + 1 }, (_, index) => `line ${index}\n`).join('');

function fileOf(name: string): string {
  return `${name.replaceAll(' ', '-')}.txt`;
}

function taskFor(name: string) {
  const isFaulty = !SIBLINGS.includes(name);
  const isolation = isFaulty ? { isolation: 'process' } : {};
  const input = { prompt: `Read ${fileOf(name)}.`, description: `read ${name}`, ...isolation };
  return { name: 'Task', input: { ...input, subagent_type: AGENT } };
}

/** Each turn reads another line, since a call that repeats itself is a limit of its own. */
function childRules(name: string): readonly Rule[] {
  return Array.from({ length: TURNS }, (_, turn): Rule => {
    const input = { file_path: fileOf(name), offset: turn + 1, limit: 1 };
    return {
      when: { promptIncludes: `Read ${fileOf(name)}.`, toolResults: turn },
      answer: { toolCalls: [{ name: 'Read', input }], firstTokenMs: TURN_MS },
    };
  });
}

/** An agent without the limit on turns that the built-in ones have. */
function writeAgent(home: string): void {
  const directory = join(home, '.config/muster/agents');
  mkdirSync(directory, { recursive: true });
  const fields = `name: ${AGENT}\ndescription: Reads files.\ntools: Read\nmax-turns: ${TURNS}`;
  writeFileSync(join(directory, `${AGENT}.md`), `---\n${fields}\n---\nYou read files.\n`);
}

async function pressKeys(terminal: PseudoTerminal): Promise<readonly number[]> {
  const delays: number[] = [];
  const startedAt = performance.now();
  for (let count = 0; performance.now() - startedAt < WATCHED_MS; count += 1) {
    await sleep(Math.max(0, startedAt + count * KEY_MS - performance.now()));
    const key = KEYS[count % KEYS.length] ?? '';
    const typedAt = performance.timeOrigin + performance.now();
    const seen = terminal.sees(key);
    terminal.type(key);
    delays.push((await seen) - typedAt);
  }
  return delays;
}

function requestsOf(exchanges: readonly Exchange[], name: string): readonly Exchange[] {
  const ofTask = byTask(exchanges).find(([first]) => {
    const body = first?.rawBody ?? '';
    return body.includes(`Read ${fileOf(name)}.`) && !body.includes(PROMPT);
  });
  return ofTask ?? [];
}

function turnTimes(
  exchanges: readonly Exchange[],
  name: string,
  { from, until }: { readonly from: number; readonly until: number },
): readonly number[] {
  const requests = requestsOf(exchanges, name);
  const times = requests.slice(1).flatMap((next, index) => {
    const earlier = requests[index];
    if (earlier === undefined || next.receivedAt < from || next.receivedAt > until) return [];
    return [next.receivedAt - answeredAt(earlier)];
  });
  if (times.length === 0) throw new Error(`${name} did no turn while the keys were pressed`);
  return times;
}
