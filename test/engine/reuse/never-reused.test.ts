import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../src/store/redact/redactor.ts';
import type { Inbox } from '../../../src/engine/task/inbox.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { answerAll } from '../support.ts';
import { call, calls, type Turn } from '../play.ts';
import {
  delegate,
  looks,
  SCOUT,
  scout,
  workspace,
  type Answers,
  type DelegateSetup,
} from './support.ts';

const FILES = { 'a.ts': 'export const a = 1;\n' };
const READ = call('Read', { file_path: 'a.ts' });

interface Case extends DelegateSetup {
  readonly what: string;
  readonly answers: Answers;
}

describe('a result is never reused', () => {
  it.each<Case>([
    {
      what: 'a task that wrote a file',
      answers: { look: looks(call('Write', { file_path: 'new.ts', content: 'x' })) },
      mode: 'autonomous',
    },
    {
      what: 'a task that ran a command, even one that only reads',
      answers: { look: looks(call('Bash', { command: 'ls' })) },
    },
    {
      what: 'a task that looked at other tasks',
      answers: { look: looks(call('TaskList', {})) },
    },
    {
      what: 'a task of which a call was refused by a rule',
      answers: { look: looks(READ) },
      deny: [
        {
          text: 'Read(a.ts)',
          tool: 'Read',
          specifier: 'a.ts',
          source: { kind: 'flag', where: '--deny' },
        },
      ],
    },
    {
      what: 'a task that a secret file was kept from',
      answers: { look: looks(call('Read', { file_path: '.env' })) },
    },
    {
      what: 'a task that reached its limit',
      answers: { look: looks(READ) },
      agents: [{ ...SCOUT, limits: { maxTurns: 1 } }],
    },
    {
      what: 'a task whose child wrote a file',
      answers: {
        look: [calls(scout('deeper')), { text: 'It is so.' }],
        deeper: looks(call('Write', { file_path: 'new.ts', content: 'x' })),
      },
      mode: 'autonomous',
    },
    {
      what: 'a task with a child in the background',
      answers: {
        look: [
          calls(scout('deeper', { run_in_background: true })),
          { text: 'Wait.' },
          { text: 'So.' },
        ],
        deeper: looks(READ),
      },
    },
    {
      what: 'a task that claims what it did not do',
      answers: { look: [{ text: 'I created new.ts and all tests pass.' }] },
    },
    {
      what: 'a task that failed',
      answers: {
        look: [
          {
            failure: { kind: 'auth', message: 'no', retryable: false, status: 401 },
            refused: true,
          },
          { text: 'So.' },
        ],
      },
    },
  ])('of $what', async (each) => {
    const { answers, what: _, ...setup } = each;
    const place = workspace({ ...FILES, '.env': 'KEY=1\n' });
    await delegate(place, answers, setup);
    const second = await delegate(place, answers, setup);
    expect(second.state.reused).toBeNull();
    expect(second.requests).not.toEqual([]);
  });

  it('of a task that asked a person', async () => {
    const place = workspace({ ...FILES, '.env': 'KEY=1\n' });
    const answers = { look: looks(call('Read', { file_path: '.env' })) };
    const setup = {
      onAsk: 'wait',
      prepareInbox: (inbox: Inbox) => answerAll(inbox, 'yes'),
    } as const;
    const first = await delegate(place, answers, setup);
    expect(first.state.toolCounts).toEqual(new Map([['Read', 1]]));
    const second = await delegate(place, answers, setup);
    expect(second.requests).toHaveLength(2);
  });

  it('of a task that was resumed', async () => {
    const place = workspace(FILES);
    const answers = { look: [...looks(READ), { text: 'More.' }] };
    const main = [
      calls(scout('look')),
      ({ results }: Turn) =>
        calls(
          scout('and more', { resume: /task ([a-z0-9]+)/.exec(results[0]?.text ?? '')?.[1] ?? '' }),
        ),
    ];
    await delegate(place, answers, { main });
    const second = await delegate(place, answers);
    expect(second.state.reused).toBeNull();
  });

  it('of a task that read redacted text', async () => {
    const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
    const redact = createRedactor({ secrets: [] });
    const place = workspace({ 'a.ts': `${secret}\n` }, openMemoryStore({ redact }));
    await delegate(place, { look: looks(READ) }, { redact });
    const second = await delegate(place, { look: looks(READ) }, { redact });
    expect(second.requests).toHaveLength(2);
  });

  it('of a task whose prompt contains a secret', async () => {
    const redact = (text: string) => text.replaceAll(/hidden-\d/g, '[redacted by Muster]');
    const place = workspace(FILES, openMemoryStore({ redact }));
    const with1 = { main: [calls(scout('look hidden-1'))], redact };
    await delegate(place, { look: looks(READ) }, with1);
    const second = await delegate(
      place,
      { look: looks(READ) },
      { ...with1, main: [calls(scout('look hidden-2'))] },
    );
    expect(second.requests).toHaveLength(2);
    const third = await delegate(place, { look: looks(READ) }, with1);
    expect(third.requests).toHaveLength(2);
  });

  it('of a task that was deleted', async () => {
    const place = workspace(FILES);
    const { state } = await delegate(place, { look: looks(READ) });
    await place.store.delete([state.spec.id]);
    const second = await delegate(place, { look: looks(READ) });
    expect(second.requests).toHaveLength(2);
  });

  it('of a task whose calls would be asked about with the present rights', async () => {
    const place = workspace({ ...FILES, 'b.ts': FILES['a.ts'] });
    await delegate(place, { look: looks(READ) });
    const outside = workspace({ 'a.ts': FILES['a.ts'] });
    fs.rmSync(join(place.root, 'a.ts'));
    fs.symlinkSync(join(outside.root, 'a.ts'), join(place.root, 'a.ts'));
    const second = await delegate(place, { look: looks(READ) });
    expect(second.state.reused).toBeNull();
    expect(second.requests).toHaveLength(2);
  });
});
