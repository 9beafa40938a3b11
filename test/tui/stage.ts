import type { EventListener, QuestionAnswer, Run, TaskSignal } from '../../src/api/index.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { App, type UiMuster } from '../../src/front/tui/app.ts';
import { themeFor, type Theme } from '../../src/front/tui/render/theme.ts';
import type { EventBody, TaskEvent } from '../../src/protocol/event.ts';
import type { EndStatus } from '../../src/protocol/result.ts';
import type { PermissionMode } from '../../src/protocol/permission.ts';
import type { PermissionQuestion } from '../../src/protocol/question.ts';
import { applyEvent, initialState, type TaskState } from '../../src/protocol/state.ts';
import { openMemoryStore } from '../../src/store/memory-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { taskSpec } from '../store/fixture-data.ts';
import { Emulator, KEYS } from './emulator.ts';

const START = Date.UTC(2026, 0, 1);

export interface StageOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly theme?: Theme;
  readonly notices?: readonly string[];
}

/** What the UI asked of the library. */
export interface Asked {
  readonly answers: QuestionAnswer[];
  readonly sent: (readonly [string, string])[];
  readonly stopped: string[];
  readonly background: string[];
}

/**
 * The UI on an emulated terminal, with a library whose tasks do what a test says, event by event: ids and
 * times are the same each time.
 */
export class Stage implements AsyncDisposable {
  readonly emulator: Emulator;
  readonly app: App;
  readonly asked: Asked = { answers: [], sent: [], stopped: [], background: [] };
  hasLeft = false;
  mode: PermissionMode = 'default';
  readonly store: TaskStore = openMemoryStore();
  /** Milliseconds since the beginning. */
  private time = 0;
  private listener: EventListener = () => {};
  private onSignal: (signal: TaskSignal) => void = () => {};
  private readonly states = new Map<string, TaskState>();
  private readonly logs = new Map<string, ReturnType<TaskStore['create']>>();
  private readonly ended = Promise.withResolvers<Awaited<Run['result']>>();

  constructor({ columns = 80, rows = 24, theme = themeFor({}), notices = [] }: StageOptions = {}) {
    this.emulator = new Emulator(columns, rows);
    this.app = new App({
      muster: this.muster(),
      terminal: this.emulator,
      theme,
      agent: null,
      notices,
      now: () => START + this.time,
      onLeave: () => {
        this.hasLeft = true;
      },
    });
    this.app.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app.stop();
  }

  pass(ms: number): void {
    this.time += ms;
  }

  /** What is on the screen, once the start knows all. */
  async screen(): Promise<string> {
    for (;;) {
      const screen = await this.emulator.screen();
      if (!screen.includes('being tried out')) return screen;
    }
  }

  /** What a person says; the main task is made by the first of it. */
  async say(text: string): Promise<void> {
    await this.emulator.type(text);
    await this.emulator.press(KEYS.enter);
  }

  /** A task is made; it is set to work. */
  begin(
    id: string,
    {
      agent = 'Explore',
      description = '',
      parent = null,
      background = false,
      prompt = description,
      isQueued = false,
    }: {
      readonly agent?: string;
      readonly description?: string;
      readonly parent?: string | null;
      readonly background?: boolean;
      readonly prompt?: string;
      readonly isQueued?: boolean;
    } = {},
  ): void {
    const base = taskSpec(id);
    const above = parent === null ? null : this.stateOf(parent).spec;
    const spec = taskSpec(id, {
      root: above?.root ?? id,
      parent,
      depth: above === null ? 0 : above.depth + 1,
      agent: { ...base.agent, name: agent },
      description,
      prompt,
      rights: { ...base.rights, mode: this.mode },
    });
    if (parent !== null) {
      this.write(parent, { type: 'child.created', child: id, callId: `call-${id}`, background });
    }
    const log = this.store.create(spec);
    this.logs.set(id, log);
    for (const event of log.opening) this.deliver({ ...event, ts: START + this.time });
    if (!isQueued) this.write(id, { type: 'task.started' });
  }

  /** What a task does next. */
  write(id: string, ...bodies: readonly EventBody[]): void {
    const log = this.logs.get(id);
    if (log === undefined) throw new Error(`there is no task ${id}`);
    for (const event of log.append(bodies)) this.deliver({ ...event, ts: START + this.time });
  }

  /** The run is over, as far as the library is concerned. */
  finish(): void {
    this.ended.resolve({ text: '' } as never);
  }

  signal(signal: TaskSignal): void {
    this.onSignal(signal);
  }

  ask(id: string): void {
    this.write(id, {
      type: 'turn.started',
      turn: this.nextTurn(id),
      inputs: [],
      model: 'scripted/one',
      toolChoice: 'auto',
    });
  }

  answer(id: string, text: string, thinking = ''): void {
    this.turn(id, [
      ...(thinking === '' ? [] : [{ type: 'reasoning', text: thinking } as const]),
      { type: 'text', text },
    ]);
  }

  call(id: string, callId: string, name: string, input: JsonValue): void {
    this.turn(id, [{ type: 'tool_call', id: callId, name, input }]);
    this.write(id, { type: 'call.started', callId, tool: name, input });
  }

  result(
    id: string,
    callId: string,
    tool: string,
    text: string,
    error: 'NOT_FOUND' | null = null,
  ): void {
    this.write(id, { type: 'call.ended', callId, tool, text, error, facts: {}, ms: 12 });
  }

  question(id: string, callId: string, change: Partial<PermissionQuestion> = {}): void {
    const question: PermissionQuestion = {
      id: `${id}q1`,
      task: id,
      callId,
      kind: 'permission',
      chain: ['main', 'general-purpose'],
      tool: 'Bash',
      commands: ['npm test -- --watch=false'],
      paths: [],
      hosts: [],
      edits: [],
      input: null,
      step: 'tool_default',
      reason: 'Bash runs commands, and neither a rule nor default mode lets it run unasked.',
      askedBy: null,
      rule: 'Bash(npm test:*)',
      scopes: ['task', 'project', 'user'],
      ...change,
    };
    this.write(id, { type: 'question.asked', question, digest: '0', parks: false });
  }

  end(id: string, status: EndStatus = 'completed', because = 'it answered'): void {
    const { parent } = this.stateOf(id).spec;
    const end = { status, error: null, by: null, because };
    this.write(id, { type: 'task.ended', end, result: '' });
    if (parent === null) return;
    this.write(parent, {
      type: 'child.ended',
      child: id,
      status,
      changed: [],
      spent: { tokens: 0, costUsd: 0 },
      below: [],
    });
  }

  private turn(
    id: string,
    content: Extract<EventBody, { type: 'turn.ended' }>['message']['content'],
  ): void {
    if (this.stateOf(id).openTurn === null) this.ask(id);
    this.write(id, {
      type: 'turn.ended',
      turn: this.nextTurn(id),
      message: { role: 'assistant', content },
      usage: { input: 1_000, output: 200, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
      costUsd: 0.01,
      reason: 'stop',
      model: 'scripted/one',
      ms: 12,
    });
  }

  private nextTurn(id: string): number {
    return this.stateOf(id).turns + 1;
  }

  private stateOf(id: string): TaskState {
    const state = this.states.get(id);
    if (state === undefined) throw new Error(`there is no task ${id}`);
    return state;
  }

  private deliver(event: TaskEvent): void {
    const known = this.states.get(event.task);
    const state = known ?? initialState(event);
    if (known !== undefined) applyEvent(state, event);
    this.states.set(event.task, state);
    this.listener(event, state);
  }

  private muster(): UiMuster {
    // oxlint-disable-next-line typescript/no-this-alias -- a getter below has its own
    const stage = this;
    const { asked, store } = this;
    return {
      cwd: '/home/you/project',
      store,
      offlineByDefault: false,
      agents: { agents: [taskSpec('aaaaaaaa').agent], shadowed: [], skipped: [], problems: [] },
      models: { settings: {}, providers: [] } as never,
      rules: { allow: [], ask: [], deny: [] },
      get mode() {
        return stage.mode;
      },
      setMode: (mode) => void (stage.mode = mode),
      mainModel: () => ({ provider: 'scripted', id: 'one', chain: ['flag'] }),
      sandboxState: async () => ({ on: true, kind: 'bwrap' }),
      watchSignals: (listener) => {
        stage.onSignal = listener;
        return () => {};
      },
      start: ({ prompt = '' }, onEvent = () => {}) => {
        stage.listener = onEvent;
        stage.begin('mainmain', { agent: 'main', prompt });
        return stage.run();
      },
      resume: async () => stage.run(),
      send: (id, text) => {
        asked.sent.push([id, text]);
        stage.write(id, {
          type: 'input.queued',
          input: { id: `said-${text}`, kind: 'message', from: 'user', text },
        });
      },
      answer: (answer) => {
        asked.answers.push(answer);
        const [task] = answer.question.split('q');
        const state = stage.stateOf(task ?? '');
        for (const { question } of state.questions.values()) {
          stage.write(question.task, {
            type: 'question.answered',
            question: question.id,
            callId: question.callId,
            answer: { kind: 'once' },
            by: 'user',
          });
        }
      },
      background: (id) => void asked.background.push(id),
      stopTask: async (id) => void asked.stopped.push(id),
    };
  }

  private run(): Run {
    return {
      id: 'mainmain',
      model: { provider: 'scripted', id: 'one', chain: ['flag'] },
      result: this.ended.promise,
      parkedOn: () => [],
      stop: () => {},
    };
  }
}
