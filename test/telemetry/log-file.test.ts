import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogFile } from '../../src/telemetry/log-file.ts';
import { describeLogRecord, isLogged, type LogLevel } from '../../src/telemetry/log-records.ts';
import type { EventBody, TaskEvent } from '../../src/protocol/events/event.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const STAMP = { v: 4, seq: 7, ts: NOW, task: 'abcdefghijkl', epoch: 1 } as const;

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'muster-log-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function open(path: string, level: LogLevel = 'info') {
  const problems: string[] = [];
  const file = new LogFile({
    path,
    level,
    redact: (text) => text.replaceAll('sesame', '[secret]'),
    now: () => NOW,
    onProblem: (line) => void problems.push(line),
  });
  return { file, problems };
}

function notice(message: string) {
  return { level: 'warning', event: 'notice', fields: { message } } as const;
}

function stamped(body: EventBody): TaskEvent {
  return { ...STAMP, ...body };
}

describe('a log file', () => {
  it('holds a line for each record of its level or above, without secrets, private to its user', async () => {
    const path = join(directory, 'logs/muster.log');
    const { file, problems } = open(path);
    file.add(notice('open sesame'));
    file.add({ level: 'debug', event: 'turn.ended', fields: {} });
    file.start();
    file.add({
      level: 'error',
      event: 'fault',
      fields: { task: null, message: 'a "broken" line\n' },
    });
    await file.close();
    expect(problems).toEqual([]);
    expect(readFileSync(path, 'utf8')).toBe(
      '{"time":"2026-01-02T03:04:05.000Z","level":"warning","event":"notice","message":"open [secret]"}\n' +
        '{"time":"2026-01-02T03:04:05.000Z","level":"error","event":"fault","task":null,"message":"a \\"broken\\" line\\n"}\n',
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('is moved aside when it would become larger than its limit', async () => {
    const path = join(directory, 'muster.log');
    const full = 'x'.repeat(10 * 1024 * 1024);
    writeFileSync(path, full);
    writeFileSync(`${path}.1`, 'the oldest lines');
    const { file } = open(path);
    file.start();
    file.add(notice('new'));
    await file.close();
    expect([readFileSync(`${path}.1`, 'utf8') === full, readFileSync(path, 'utf8')]).toEqual([
      true,
      expect.stringContaining('"message":"new"'),
    ]);
  });

  it('names the limit on lines that wait, with the number of lines that did not fit', async () => {
    const path = join(directory, 'muster.log');
    const { file } = open(path);
    const text = 'x'.repeat(400_000);
    for (const message of [text, text, text, text]) file.add(notice(message));
    file.start();
    await file.close();
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines.length).toBe(3);
    expect(JSON.parse(lines[2] ?? '')).toEqual({
      time: '2026-01-02T03:04:05.000Z',
      level: 'warning',
      event: 'left_out',
      lines: 2,
      limit: 'log_queue_bytes (1048576)',
    });
  });

  it('reports once that it cannot be written, and breaks nothing', async () => {
    writeFileSync(join(directory, 'file'), '');
    const path = join(directory, 'file/muster.log');
    const { file, problems } = open(path);
    file.start();
    file.add(notice('one'));
    await file.close();
    file.add(notice('two'));
    await file.close();
    expect(problems).toEqual([expect.stringContaining(`the log file ${path} can't be written: `)]);
  });
});

describe('the line of an event', () => {
  const cases: readonly (readonly [EventBody, LogLevel, object])[] = [
    [{ type: 'task.started' }, 'info', {}],
    [
      {
        type: 'task.ended',
        end: { status: 'completed', error: null, because: 'SECRET', by: null },
        result: 'SECRET',
      },
      'info',
      { status: 'completed' },
    ],
    [
      {
        type: 'task.ended',
        end: {
          status: 'failed',
          error: { code: 'TIMEOUT', message: 'SECRET', retryable: false },
          because: 'SECRET',
          by: 'limit',
        },
        result: 'SECRET',
      },
      'warning',
      { status: 'failed', error: 'TIMEOUT', by: 'limit' },
    ],
    [
      { type: 'call.started', callId: 'c1', tool: 'Bash', input: { command: 'SECRET' } },
      'debug',
      { callId: 'c1', tool: 'Bash' },
    ],
    [
      {
        type: 'call.ended',
        callId: 'c1',
        tool: 'Ba\u001b[31msh',
        text: 'SECRET',
        error: 'TIMEOUT',
        facts: {},
        ms: 5,
      },
      'debug',
      { callId: 'c1', tool: expect.not.stringContaining('\u001b'), ms: 5, error: 'TIMEOUT' },
    ],
    [
      { type: 'limit.reached', limit: 'max_turns', value: 3, used: 3 },
      'warning',
      { limit: 'max_turns', value: 3, used: 3 },
    ],
    [{ type: 'warning', message: 'be careful' }, 'warning', { message: 'be careful' }],
    [
      {
        type: 'todos.set',
        items: [{ content: 'SECRET', status: 'pending' }],
      },
      'debug',
      {},
    ],
  ];

  it.each(cases)('%j has the level %s and no content', (body, level, fields) => {
    const record = describeLogRecord(stamped(body));
    expect(record).toEqual({
      level,
      event: body.type,
      fields: { task: STAMP.task, seq: STAMP.seq, ...fields },
    });
    expect(JSON.stringify(record)).not.toContain('SECRET');
  });

  it('is written if its level is at least that of the file', () => {
    const levels: readonly LogLevel[] = ['error', 'warning', 'info', 'debug'];
    expect(levels.map((level) => levels.map((file) => isLogged(level, file)))).toEqual([
      [true, true, true, true],
      [false, true, true, true],
      [false, false, true, true],
      [false, false, false, true],
    ]);
  });
});
