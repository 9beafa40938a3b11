import { stripVTControlCharacters } from 'node:util';
import type { HookReport } from '../../../src/report/hook-lines.ts';
import type {
  CommandOutput,
  ContextFile,
  EventListener,
  RuleChange,
  RuleInForce,
  Run,
  ServerStatus,
  TaskSignal,
} from '../../../src/api/index.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { App } from '../../../src/front/tui/app.ts';
import type { ConversationPort } from '../../../src/front/tui/terminal/conversation-runner.ts';
import {
  findAttentionMethod,
  type AttentionMethod,
} from '../../../src/front/tui/terminal/notification.ts';
import type { LineStreams } from '../../../src/front/tui/plain/line-terminal.ts';
import { PlainApp } from '../../../src/front/tui/plain/plain-app.ts';
import type { EventBody, TaskEvent } from '../../../src/protocol/events/event.ts';
import type { TerminalInterface } from '../../../src/front/tui/tui.ts';
import type { UiLibrary } from '../../../src/front/tui/model/ui-library.ts';
import { themeFor, type Theme } from '../../../src/front/tui/view/theme.ts';
import type { EndStatus } from '../../../src/protocol/result.ts';
import type { PermissionMode } from '../../../src/protocol/permission.ts';
import type { PermissionQuestion } from '../../../src/protocol/question.ts';
import type { ToolCallPart } from '../../../src/protocol/message.ts';
import type { TemplateDefinition } from '../../../src/protocol/template.ts';
import type { TaskSpec } from '../../../src/protocol/task.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import { taskSpec } from '../../store/fixture-data.ts';
import type { TerminalDevice } from '../../../src/front/tui/terminal/screen.ts';
import { Emulator, KEYS } from './emulator.ts';
import { DEFAULT_TERMINAL_SETTINGS } from '../../../src/protocol/terminal-settings.ts';
import { applyEvent } from '../../../src/protocol/state/fold.ts';
import { initialState, type TaskState } from '../../../src/protocol/state/task-state.ts';
import type { QuestionAnswer } from '../../../src/engine/engine-requests.ts';

const START = Date.UTC(2026, 0, 1);

export interface StageOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly theme?: Theme;
  readonly notices?: readonly string[];
  readonly keyBindings?: UiLibrary['keyBindings'];
  /** In earlier sessions. */
  readonly typed?: readonly string[];
  readonly watched?: ConversationPort;
  readonly cwd?: string;
  readonly attention?: AttentionMethod;
  /** What it is drawn on; default: the emulator. */
  readonly terminal?: TerminalDevice;
  /** Whether events are kept to be read again: a transcript is opened from them. Default true. */
  readonly isKept?: boolean;
  /** The section `[terminal]` of the configuration. */
  readonly settings?: Partial<UiLibrary['terminal']>;
  /** The uses of hints in earlier sessions. */
  readonly hintUses?: Readonly<Record<string, number>>;
  /** Set: the UI in plain lines, on these. */
  readonly streams?: LineStreams;
}

/** What the UI asked of the library. */
export interface Asked {
  readonly answers: QuestionAnswer[];
  readonly sent: (readonly [string, string])[];
  readonly interrupted: string[];
  /** Of what was begun or gone on with in one of its own. */
  readonly modes: PermissionMode[];
  readonly stopped: string[];
  readonly stoppedShells: string[];
  readonly rules: RuleChange[];
  /** The messages with which conversations were begun. */
  readonly begun: string[];
  /** The rules with which a conversation was begun. */
  readonly begunWith: RuleChange[];
  readonly background: string[];
  /** What was done with MCP servers. */
  readonly servers: string[];
  readonly enclosed: {
    readonly words: string;
    readonly outputs: readonly CommandOutput[];
    readonly images: readonly string[];
    readonly to: string | null;
  }[];
  /** Ended tasks that were to go on, with what they were told, below a conversation at work or an idle one. */
  readonly woken: (readonly [string, string | null, 'at work' | 'idle'])[];
  /** Conversations that were to go on, with what was said; null: nothing. */
  readonly resumed: (readonly [string, string | null])[];
}

/**
 * The UI on an emulated terminal, with a library whose tasks do what a test says, event by event: ids and
 * times are the same each time.
 */
export class Stage implements AsyncDisposable {
  readonly emulator: Emulator;
  private readonly face: TerminalInterface;
  readonly asked: Asked = {
    answers: [],
    sent: [],
    interrupted: [],
    modes: [],
    stopped: [],
    stoppedShells: [],
    rules: [],
    begun: [],
    begunWith: [],
    background: [],
    servers: [],
    enclosed: [],
    woken: [],
    resumed: [],
  };
  /** Of earlier sessions, and of this one. */
  readonly typed: string[];
  files: readonly string[] = [];
  /** It is read when the app starts. */
  serverContent: UiLibrary['serverContent'] = null;
  slashCommands: UiLibrary['slashCommands'] = [];
  /** Of other directories. */
  typedElsewhere: readonly string[] = [];
  modelLists: Awaited<ReturnType<UiLibrary['listModels']>> = [];
  /** The context files that are loaded. */
  contextFiles: readonly ContextFile[] = [];
  hooks: HookReport = { hooks: [], untrusted: [], problems: [] };
  readonly templates: TemplateDefinition[] = [];
  /** The rules that are in force. */
  rules: readonly RuleInForce[] = [];
  /** The MCP servers. */
  servers: readonly ServerStatus[] = [];
  /** The names of the servers for which the first message waits until they have answered. */
  awaitedServers: readonly string[] = [];
  readonly serversAnswered = Promise.withResolvers<void>();
  private onServerChange: () => void = () => {};
  /** Opens the workspaces of the tasks. */
  openWorkspaces: UiLibrary['workspaces'] = async () => {
    throw new Error('no task has a workspace');
  };
  whyNoImage: string | null = null;
  /** The context window of every model. */
  contextWindow: number | null = null;
  private readonly settings: Partial<UiLibrary['terminal']>;
  readonly hintUses: Map<string, number>;
  hasLeft = false;
  mode: PermissionMode = 'default';
  private readonly keyBindings: UiLibrary['keyBindings'];
  /** Milliseconds since the beginning. */
  private time = 0;
  readonly store: TaskStore = openMemoryStore();
  private readonly isKept: boolean;
  private readonly cwd: string;
  private listener: EventListener = () => {};
  private onSignal: (signal: TaskSignal) => void = () => {};
  private readonly states = new Map<string, TaskState>();
  private readonly logs = new Map<string, ReturnType<TaskStore['create']>>();
  private readonly ended = Promise.withResolvers<Awaited<Run['result']>>();

  constructor({
    columns = 80,
    rows = 24,
    theme = themeFor({}),
    notices = [],
    attention = findAttentionMethod({}),
    watched,
    keyBindings = new Map(),
    cwd = '/home/you/project',
    typed = [],
    streams,
    terminal,
    isKept = true,
    settings = {},
    hintUses = {},
  }: StageOptions = {}) {
    this.settings = settings;
    this.hintUses = new Map(Object.entries(hintUses));
    this.keyBindings = keyBindings;
    this.typed = [...typed];
    this.cwd = cwd;
    this.isKept = isKept;
    this.emulator = new Emulator(columns, rows);
    const options = {
      library: this.library(),
      attention,
      agent: null,
      notices,
      ...(watched === undefined ? {} : { watched }),
      now: () => START + this.time,
      onLeave: () => {
        this.hasLeft = true;
      },
    };
    this.face =
      streams === undefined
        ? new App({ ...options, terminal: terminal ?? this.emulator, theme })
        : new PlainApp({ ...options, streams });
    this.face.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.face.stop();
  }

  /** The UI on the screen. */
  get app(): App {
    if (this.face instanceof App) return this.face;
    throw new Error('it is told in plain lines');
  }

  /** The UI in lines. */
  get plain(): PlainApp {
    if (this.face instanceof PlainApp) return this.face;
    throw new Error('it is drawn on a screen');
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

  /** The picture as it would be drawn now, without colours. */
  drawn(): string {
    const { columns: width, rows: height } = this.emulator;
    const lines = this.app.draw({ width, height, editor: ['', '', ''] });
    return stripVTControlCharacters(lines.join('\n'));
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
      callId = `call-${id}`,
    }: {
      readonly agent?: string;
      readonly description?: string;
      readonly parent?: string | null;
      readonly background?: boolean;
      readonly prompt?: string;
      readonly isQueued?: boolean;
      /** The call of the parent that creates it. */
      readonly callId?: string;
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
      this.write(parent, { type: 'child.created', child: id, callId, background });
    }
    for (const event of this.opening(spec)) this.deliver(this.stamp(event));
    if (!isQueued) this.write(id, { type: 'task.started' });
  }

  /** What a task does next. */
  write(id: string, ...bodies: readonly EventBody[]): void {
    const events =
      this.logs.get(id)?.append(bodies) ?? stamped(id, this.stateOf(id).lastSeq + 1, bodies);
    for (const event of events) this.deliver(this.stamp(event));
  }

  /** Gives an event the time of the stage. A step of the machine's clock would change durations. */
  private stamp(event: TaskEvent): TaskEvent {
    const { clockShift: _, ...others } = event;
    return { ...others, ts: START + this.time };
  }

  private opening(spec: TaskSpec): readonly TaskEvent[] {
    if (!this.isKept) return stamped(spec.id, 0, [{ type: 'task.created', spec }]);
    const log = this.store.create(spec);
    this.logs.set(spec.id, log);
    return log.opening;
  }

  /** Nobody works on them any more. */
  release(...ids: readonly string[]): void {
    for (const id of ids) this.logs.get(id)?.close();
  }

  /** A task that is watched stands as its events told. */
  place(id: string): void {
    this.app.placeTask(this.stateOf(id));
  }

  /** The MCP servers have these states now. */
  changeServers(servers: readonly ServerStatus[]): void {
    this.servers = servers;
    this.onServerChange();
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

  /** Calls of one message, all of which run. */
  calls(id: string, calls: readonly ToolCallPart[]): void {
    this.turn(id, calls);
    for (const { id: callId, name: tool, input } of calls) {
      this.write(id, { type: 'call.started', callId, tool, input });
    }
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
    this.endChild(id, status);
    if (!this.isKept) this.states.delete(id);
  }

  /** A task of an earlier conversation is in the logs. */
  endEarlier(id: string, agent: string, costUsd: number): void {
    const base = taskSpec(id);
    const model = { provider: 'scripted', id: 'one', chain: ['flag'] };
    const log = this.store.create(taskSpec(id, { agent: { ...base.agent, name: agent }, model }));
    const end = { status: 'completed', error: null, by: null, because: 'it answered' } as const;
    log.append([
      { type: 'task.started' },
      {
        type: 'turn.started',
        turn: 1,
        inputs: [],
        model: 'scripted/one',
        toolChoice: 'auto',
      },
      {
        type: 'turn.ended',
        turn: 1,
        message: { role: 'assistant', content: [{ type: 'text', text: 'found' }] },
        usage: { input: 1_000, output: 200, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
        costUsd,
        reason: 'stop',
        model: 'scripted/one',
        ms: 12,
      },
      { type: 'task.ended', end, result: 'found' },
    ]);
    log.close();
  }

  /** The parent hears of the end of a task. */
  endChild(id: string, status: EndStatus = 'completed'): void {
    this.write(this.stateOf(id).spec.parent ?? '', {
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

  private library(): UiLibrary {
    // oxlint-disable-next-line typescript/no-this-alias -- a getter below has its own
    const stage = this;
    const { asked, store } = this;
    return {
      cwd: this.cwd,
      store,
      offlineByDefault: false,
      keyBindings: this.keyBindings,
      typed: {
        entries: () => this.typed,
        add: (text) => void this.typed.push(text),
        elsewhere: () => this.typedElsewhere,
      },
      configFiles: [],
      serverContent: this.serverContent,
      get slashCommands() {
        return stage.slashCommands;
      },
      refreshSlashCommands: async () => {},
      terminal: { ...DEFAULT_TERMINAL_SETTINGS, ...this.settings },
      hintUses: {
        counts: () => this.hintUses,
        add: (hint) => void this.hintUses.set(hint, (this.hintUses.get(hint) ?? 0) + 1),
      },
      contextWindow: async () => this.contextWindow,
      listFiles: async () => this.files,
      enclose: async ({ words, outputs, images, to }) => {
        asked.enclosed.push({
          words,
          outputs: [...outputs],
          images: images.map(({ name }) => name),
          to,
        });
        const enclosures = outputs.map(({ command, outcome, text }) => {
          return { kind: 'command', name: command, outcome, text, nonce: 'nonce' } as const;
        });
        return { task: to ?? 'mainmain', enclosures, problems: [] };
      },
      lookAtImage: async () => ({
        facts: 'PNG image, 1 × 1 pixels, 68 bytes',
        why: this.whyNoImage,
      }),
      listModels: async () => this.modelLists,
      findModel: async (name) => name,
      mainEffort: () => null,
      setModel: (name) => ({ provider: 'scripted', id: name, chain: ['flag'] }),
      contextOf: async () => {
        throw new Error('no request was sent yet');
      },
      workspaces: (signal) => this.openWorkspaces(signal),
      planRewind: async () => {
        throw new Error('nothing is kept');
      },
      rewind: async () => {
        throw new Error('nothing is kept');
      },
      agents: { agents: [taskSpec('aaaaaaaa').agent], shadowed: [], skipped: [], problems: [] },
      models: { settings: {}, providers: [] } as never,
      rules: { allow: [], ask: [], deny: [] },
      templates: this.templates,
      servers: {
        list: () => stage.servers,
        watch: (listener) => {
          stage.onServerChange = listener;
          return () => {};
        },
        restart: async (id) => void asked.servers.push(`restart ${id}`),
        accept: async (id) => void asked.servers.push(`accept ${id}`),
        setEnabled: (id, isEnabled) => {
          asked.servers.push(`${isEnabled ? 'enable' : 'disable'} ${id}`);
        },
      },
      listAwaitedServers: () => stage.awaitedServers,
      prepareServers: () => stage.serversAnswered.promise,
      contextFiles: async () => this.contextFiles,
      listHooks: async () => this.hooks,
      get mode() {
        return stage.mode;
      },
      setMode: (id, mode) => {
        const { rights, limits, model } = stage.stateOf(id).spec;
        stage.write(id, { type: 'terms.changed', rights: { ...rights, mode }, limits, model });
      },
      listRules: async (_id, initial = []) => ({
        mode: stage.mode,
        rules: [
          ...initial.map(({ list, rule }) => ({
            list,
            text: rule,
            origin: 'conversation' as const,
            where: 'set with /permissions',
          })),
          ...stage.rules,
        ],
      }),
      changeRule: async (_id, change) => void asked.rules.push(change),
      mainModel: () => ({ provider: 'scripted', id: 'one', chain: ['flag'] }),
      sandboxState: async () => ({ on: true, kind: 'bwrap' }),
      watchSignals: (listener) => {
        stage.onSignal = listener;
        return () => {};
      },
      start: ({ prompt = '', mode, rules = [] }, onEvent = () => {}) => {
        asked.begun.push(prompt);
        asked.begunWith.push(...rules);
        stage.listener = onEvent;
        if (mode !== undefined) asked.modes.push((stage.mode = mode));
        stage.begin('mainmain', { agent: 'main', prompt });
        return stage.run();
      },
      resume: async ({ id, prompt, mode, below }) => {
        if (mode !== undefined) asked.modes.push(mode);
        if (below !== undefined) asked.woken.push([below.id, below.prompt ?? null, 'idle']);
        else asked.resumed.push([id, prompt ?? null]);
        return stage.run();
      },
      resumeBelow: async (id, { prompt } = {}) => {
        asked.woken.push([id, prompt ?? null, 'at work']);
      },
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
      withdraw: (id) => {
        const queued = stage
          .stateOf(id)
          .conversation.queued.filter(({ kind, from }) => kind === 'message' && from === 'user');
        const ids = queued.map((input) => input.id);
        if (ids.length > 0) stage.write(id, { type: 'input.withdrawn', ids });
        return queued;
      },
      background: (id) => void asked.background.push(id),
      interrupt: (id) => void asked.interrupted.push(id),
      stopShell: async (task, shell) => {
        asked.stoppedShells.push(`${task} ${shell}`);
        stage.write(task, { type: 'shell.ended', shell, end: 'stopped', exitCode: null });
      },
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

/** As a log would stamp them. */
function stamped(task: string, first: number, bodies: readonly EventBody[]): readonly TaskEvent[] {
  return bodies.map((body, index) =>
    Object.assign({ v: 1, seq: first + index, ts: 0, task, epoch: 1 }, body),
  );
}
