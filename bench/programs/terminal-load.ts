/**
 * The terminal UI under load: `terminal-load.ts busy|idle|scroll|heap`. Prints the measured values as JSON. `heap` needs
 * `--expose-gc`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Stage } from '../../test/front/tui/stage.ts';
import { BareTerminal } from '../harness/bare-terminal.ts';
import { EVENTS_PER_TURN, turnEvents } from './turn-events.ts';

const CHILDREN = 20;
const EVENTS_PER_SECOND = 200;
const SECONDS = 5;
const STEP_MS = 10;
const KEY_MS = 97;
const FEW_EVENTS = 72_000;
/** The number of events after which a child ends. */
const EVENTS_PER_CHILD = 100;
const MANY_EVENTS = 720_000;

/** Measures the share of a core that the UI uses, in percent, and the time from a key to its effect, in milliseconds. */
async function busy() {
  const { stage, terminal } = await openStage();
  const load = new Load(stage);
  const keys: number[] = [];
  const isOver = runFor(load);
  const startedAt = performance.now();
  const before = process.cpuUsage();
  for (let count = 1; !isOver(); count += 1) {
    const dueAt = startedAt + count * KEY_MS;
    await sleep(Math.max(0, dueAt - performance.now()));
    // A letter is typed and deleted again.
    keys.push(await terminal.press(count % 2 === 1 ? 'x' : '\u007f', dueAt));
  }
  return { percent: percentOf(before, startedAt), keys, events: load.delivered };
}

/** Measures the same without a UI: the cost of the events themselves, and the delay of a timer. */
async function idle() {
  const stage = new Stage({ terminal: new BareTerminal(), isKept: false });
  stage.begin('mainmain', { agent: 'main' });
  const load = new Load(stage);
  const isOver = runFor(load);
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const late: number[] = [];
  for (let count = 1; !isOver(); count += 1) {
    const dueAt = startedAt + count * KEY_MS;
    await sleep(Math.max(0, dueAt - performance.now()));
    late.push(performance.now() - dueAt);
  }
  return { percent: percentOf(before, startedAt), late, events: load.delivered };
}

/** Measures each step while 10,000 lines are scrolled up and down again, in milliseconds. */
async function scroll() {
  const { stage, terminal } = await openStage();
  const answer = Array.from(
    { length: 12 },
    (_, line) => `- point ${line} with **words** and \`code\``,
  );
  for (let count = 0; count < 400; count += 1) {
    stage.answer(
      'mainmain',
      `## Part ${count}\n\n${answer.join('\n')}\n\n\`\`\`ts\n${'const a = 1;\n'.repeat(8)}\`\`\``,
    );
  }
  await sleep(200);
  const steps: number[] = [];
  const before = process.cpuUsage();
  for (const key of ['\u001b[5~', '\u001b[6~', '\u001b[5~']) {
    for (let step = 0; step < 280; step += 1) steps.push(await terminal.press(key));
  }
  const { user, system } = process.cpuUsage(before);
  return { steps, cpuMs: (user + system) / 1000 / steps.length };
}

/** Measures the heap after few and after many events at full speed, in bytes. */
async function heap() {
  const { stage } = await openStage();
  const load = new Load(stage);
  await fullSpeed(load, FEW_EVENTS);
  const few = await measureHeap();
  await fullSpeed(load, MANY_EVENTS);
  return { few, many: await measureHeap() };
}

async function openStage() {
  const terminal = new BareTerminal();
  const stage = new Stage({ terminal, isKept: false });
  for (const key of [...'Go', '\r']) await terminal.press(key);
  return { stage, terminal };
}

/** Children that work in turns of one call. When one ends, another one begins in its place. */
class Load {
  delivered = 0;
  private readonly stage: Stage;
  private readonly children: Child[];
  private begun = 0;

  constructor(stage: Stage) {
    this.stage = stage;
    this.children = Array.from({ length: CHILDREN }, () => this.begin());
  }

  /** One event of each child. */
  step(): void {
    for (const [index, child] of this.children.entries()) {
      const at = child.events % EVENTS_PER_TURN;
      if (at === 0) child.turn = turnEvents(child.events / EVENTS_PER_TURN + 1);
      const event = child.turn[at];
      if (event !== undefined) this.stage.write(child.id, event);
      child.events += 1;
      this.delivered += 1;
      if (child.events < EVENTS_PER_CHILD) continue;
      this.stage.end(child.id);
      this.children[index] = this.begin();
    }
  }

  /** Streams text of the main agent at the same time. */
  stream(): void {
    this.stage.signal({ type: 'text_delta', task: 'mainmain', text: 'a few words more, ' });
  }

  private begin(): Child {
    const id = `child${String(this.begun).padStart(6, '0')}`;
    this.stage.begin(id, { description: `part ${this.begun}`, parent: 'mainmain' });
    this.begun += 1;
    return { id, events: 0, turn: [] };
  }
}

interface Child {
  readonly id: string;
  events: number;
  /** The events of its current turn. */
  turn: ReturnType<typeof turnEvents>;
}

/** Delivers events at EVENTS_PER_SECOND. The returned function tells whether the time is up. */
function runFor(load: Load): () => boolean {
  const startedAt = performance.now();
  let steps = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * EVENTS_PER_SECOND;
    for (; steps < due; steps += 1) load.step();
    load.stream();
  }, STEP_MS);
  return () => {
    const isOver = performance.now() - startedAt >= SECONDS * 1000;
    if (isOver) clearInterval(timer);
    return isOver;
  };
}

async function fullSpeed(load: Load, events: number): Promise<void> {
  while (load.delivered < events) {
    for (let step = 0; step < 50; step += 1) load.step();
    load.stream();
    await sleep(0);
  }
  await sleep(200);
}

async function measureHeap(): Promise<number> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('run this program with --expose-gc');
  gc();
  await sleep(50);
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function percentOf(before: NodeJS.CpuUsage, startedAt: number): number {
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1000 / (performance.now() - startedAt)) * 100;
}

const MODES = { busy, idle, scroll, heap };

const mode = process.argv[2] ?? '';
if (!isMode(mode)) throw new Error(`the mode is one of ${Object.keys(MODES).join(', ')}`);
process.stdout.write(`${JSON.stringify(await MODES[mode]())}\n`);
// The UI does not end by itself.
process.exit(0);

function isMode(name: string): name is keyof typeof MODES {
  return Object.hasOwn(MODES, name);
}
