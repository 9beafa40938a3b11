import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createMuster, defineTool } from '../../src/library.ts';
import { createScriptedModel } from '../scripted-model.ts';
import { makeDirectory } from './support.ts';

const NAMES = ['own_none', 'own_read', 'own_write', 'own_unknown', 'Read'] as const;
type Name = (typeof NAMES)[number];
const FILES = ['a.txt', 'b.txt', '../outside.txt', '.git/config', '.env'] as const;

const callArbitrary = fc.record({
  name: fc.constantFrom(...NAMES),
  file: fc.constantFrom(...FILES),
  size: fc.constantFrom(5, 60_000),
});
const rulesArbitrary = fc.record({
  allow: fc.subarray<Name>(['own_none', 'own_read', 'own_write', 'own_unknown']),
  deny: fc.subarray<Name>([...NAMES]),
});

it('a random mix of own and built-in tools follows the rules, and is recorded and replayed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(callArbitrary, { minLength: 1, maxLength: 6 }),
      rulesArbitrary,
      fc.constantFrom('default' as const, 'plan' as const, 'autonomous' as const),
      fc.constantFrom('off' as const, 'auto' as const),
      async (sent, { allow, deny }, mode, kind) => {
        const cwd = makeDirectory();
        const ran: string[] = [];
        const input = z.object({ file: z.string(), size: z.number(), n: z.number() });
        const own = (name: Name, access: 'none' | 'reads' | 'writes' | undefined) =>
          defineTool({
            name,
            description: name,
            input,
            ...(access === undefined
              ? {}
              : {
                  access:
                    access === 'none' ? access : { [access]: ({ file }: { file: string }) => file },
                }),
            run: ({ file, size, n }, { resolve }) => {
              ran.push(`${n}`);
              if (name === 'own_write') writeFileSync(resolve(file), `written ${n}`);
              return 'x'.repeat(size);
            },
          });
        const tools = [
          own('own_none', 'none'),
          own('own_read', 'reads'),
          own('own_write', 'writes'),
          own('own_unknown', undefined),
        ];
        for (const name of ['a.txt', 'b.txt', '.env']) writeFileSync(join(cwd, name), `${name}\n`);
        const calls = sent.map(({ name, file, size }, n) => ({
          id: `call_${n}`,
          name,
          input: name === 'Read' ? { file_path: file } : { file, size, n },
        }));
        const model = createScriptedModel((_request, index) =>
          calls[index] === undefined ? { text: 'done' } : { calls: [calls[index]] },
        );
        await using muster = await createMuster({
          cwd,
          model,
          tools,
          allow,
          deny,
          mode,
          config: { sandbox: { kind }, liveness: { no_progress_calls: 100 } },
        });
        const { data } = await muster.run('Go.');
        const denied = new Set<string>(deny);
        const allowed = new Set<string>(allow);
        const isInside = (file: string) => !file.startsWith('..');
        const mayRun = ({ name, file }: (typeof sent)[number]): boolean => {
          if (name === 'Read' || denied.has(name)) return false;
          switch (name) {
            case 'own_none':
              return true;
            case 'own_read':
              // A deny rule of Read holds for whatever reads a file.
              return isInside(file) && file !== '.env' && !denied.has('Read');
            case 'own_write':
              return (
                (mode === 'autonomous' || (mode === 'default' && allowed.has(name))) &&
                ['a.txt', 'b.txt'].includes(file)
              );
            case 'own_unknown':
              return mode !== 'plan' && allowed.has(name);
          }
        };
        const expected = sent.flatMap((call, n) => (mayRun(call) ? [`${n}`] : []));
        expect(ran).toEqual(expected);
        const results = model.requests
          .at(-1)
          ?.messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
        expect(results?.every(({ text }) => text.length < 40_000)).toBe(true);
        const written = sent.flatMap((call, n) =>
          call.name === 'own_write' && expected.includes(`${n}`) ? [join(cwd, call.file)] : [],
        );
        expect([...new Set(data.receipt.filesChanged.map(({ path }) => path))].toSorted()).toEqual(
          [...new Set(written)].toSorted(),
        );
        expect(existsSync(join(cwd, '../outside.txt'))).toBe(false);
        expect(readFileSync(join(cwd, '.env'), 'utf8')).toBe('.env\n');
        const { tasks } = await muster.rerun(data.task_id);
        expect(tasks.map(({ difference }) => difference)).toEqual([null]);
      },
    ),
    { numRuns: 30 },
  );
});
