import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readServerEntry } from '../../src/mcp/read-entry.ts';
import type { McpServerEntry } from '../../src/mcp/server-entry.ts';
import { writeServerEntry } from '../../src/mcp/write-entry.ts';

const ORIGIN = { scope: 'user', file: 'mcp.json' } as const;

const word = fc.stringMatching(/^[A-Za-z][\w-]{0,12}$/);
const text = fc.oneof(word, fc.constant('a b'), fc.constant('${TOKEN}'), fc.constant(''));
const map = fc.dictionary(
  word.filter((name) => !name.includes('-')),
  text,
  { maxKeys: 3 },
);
const seconds = fc.integer({ min: 1, max: 86_400 }).map((value) => value * 1000);

const transport = fc.oneof(
  fc.record({
    type: fc.constant('stdio' as const),
    command: word,
    args: fc.array(text, { maxLength: 3 }),
    env: map,
    cwd: fc.option(word),
  }),
  fc.record({
    type: fc.constantFrom('http' as const, 'sse' as const),
    url: word.map((host) => `https://${host}.example.org/mcp`),
    headers: map,
    headersHelper: fc.option(word),
  }),
);

const limits = fc
  .record({
    startMs: seconds,
    silenceMs: seconds,
    callMs: seconds,
    taskMs: seconds,
    idleMs: seconds,
  })
  .map((drawn) => {
    return Object.assign(drawn, { callMs: Math.max(drawn.callMs, drawn.silenceMs) });
  });

const server: fc.Arbitrary<McpServerEntry> = fc.record({
  name: word,
  origin: fc.constant(ORIGIN),
  transport,
  limits,
  isEnabled: fc.boolean(),
  sandbox: fc.option(fc.boolean()),
  hasOwnConnection: fc.boolean(),
  tools: fc.record({
    only: fc.option(fc.array(word, { minLength: 1, maxLength: 3 })),
    except: fc.array(word, { maxLength: 3 }),
  }),
});

test('a written entry is read as the same entry', () => {
  fc.assert(
    fc.property(server, (entry) => {
      const written = writeServerEntry(entry);
      expect(readServerEntry(entry.name, written, ORIGIN)).toEqual({ entry, problems: [] });
    }),
  );
});

test('an entry with default values is written without them', () => {
  const { entry } = readServerEntry('s', { cmd: 'run', timeout: 60_000, enabled: true }, ORIGIN);
  if (entry === null) throw new Error('the entry has an error');
  expect(writeServerEntry(entry)).toEqual({ command: 'run', args: [] });
});
