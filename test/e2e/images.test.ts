import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  assertAppendOnly,
  toolResultRounds,
  type AnswerToolCall,
  type FakeModel,
  type WireProtocol,
} from '../../src/testing/index.ts';
import { gifOf, jpegOf, pdfOf, pngOf, webpOf } from '../pictures.ts';
import { clean, tasks } from './tasks.ts';
import { callsInTurn, lastResults, openWorld, type World } from './world.ts';

const FILES = {
  'a.png': pngOf(30, 20),
  'b.pdf': pdfOf(2),
  'c.jpg': jpegOf(30, 20),
  'd.webp': webpOf(30, 20),
} as const;

const read = (path: string): AnswerToolCall => ({ name: 'Read', input: { file_path: path } });
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function put(world: World, files: Readonly<Record<string, Buffer>>): void {
  for (const [name, bytes] of Object.entries(files)) {
    writeFileSync(join(world.sandbox.workspace, name), bytes);
  }
}

/** Text of each result of the newest request, with what it shows, wherever the protocol has that. */
function shownBy(model: FakeModel): readonly (readonly [string, ...Buffer[]])[] {
  const messages = model.requests.at(-1)?.messages ?? [];
  const behind = messages.flatMap(({ role, attachments = [] }) =>
    role === 'user' ? attachments : [],
  );
  return messages.flatMap(({ toolResults }) =>
    toolResults.map(({ text, attachments = [] }) => {
      const files = attachments.length > 0 ? attachments : behind.splice(0, 1);
      return [text, ...files.map(({ base64 }) => Buffer.from(base64, 'base64'))] as const;
    }),
  );
}

function logOf({ sandbox }: World): string {
  const directory = join(sandbox.data, 'tasks');
  const log = readdirSync(directory).find((name) => name.endsWith('.jsonl')) ?? '';
  return readFileSync(join(directory, log), 'utf8');
}

function blobsOf({ sandbox }: World): readonly string[] {
  return readdirSync(join(sandbox.data, 'blobs'));
}

describe.concurrent('images and documents', () => {
  it.each<WireProtocol>(['anthropic', 'google'])(
    'go with the result of the call: %s',
    async (protocol) => {
      const calls = Object.keys(FILES).map(read);
      await using world = await openWorld({
        protocol,
        script: callsInTurn(calls, [read('a.png')]),
      });
      put(world, FILES);
      expect(await world.run(['-p', 'look'])).toMatchObject({ code: 0, stderr: '' });
      expect(shownBy(world.model)).toEqual([
        ['a.png: PNG image, 30 × 20 pixels, 80 bytes', FILES['a.png']],
        [`b.pdf: PDF document, 2 pages, ${FILES['b.pdf'].length} bytes`, FILES['b.pdf']],
        ['c.jpg: JPEG image, 30 × 20 pixels, 95 bytes', FILES['c.jpg']],
        ['d.webp: WebP image, 30 × 20 pixels, 30 bytes', FILES['d.webp']],
        ['a.png: PNG image, 30 × 20 pixels, 80 bytes', FILES['a.png']],
      ]);
      const [, second, third] = world.model.requests;
      if (second !== undefined && third !== undefined) assertAppendOnly(second, third);
    },
  );

  it('follow the results if the protocol has only text results', async () => {
    const script = callsInTurn([read('a.png'), read('b.pdf')], [read('c.jpg')]);
    await using world = await openWorld({ protocol: 'chat', script });
    put(world, FILES);
    const model = 'llm/fake-model';
    const config = `[models.catalogue."${model}"]\nattachments = ["image"]\n`;
    world.sandbox.write('../home/.config/muster/config.toml', config);
    expect(await world.run(['-p', 'look'])).toMatchObject({ code: 0, stderr: '' });
    const messages = world.model.requests.at(-1)?.messages ?? [];
    expect(messages.map(({ role, attachments = [] }) => [role, attachments.length])).toEqual([
      ['user', 0],
      ['assistant', 0],
      ['tool', 0],
      ['user', 1],
      ['assistant', 0],
      ['tool', 0],
      ['user', 1],
    ]);
    expect(messages[2]?.toolResults.map(({ text }) => text)).toEqual([
      'a.png: PNG image, 30 × 20 pixels, 80 bytes',
      `b.pdf: PDF document, ${FILES['b.pdf'].length} bytes. Not shown: ${model} accepts no PDF documents. For its text use a program, such as pdftotext (Bash).`,
    ]);
    expect(messages[3]?.text).toMatch(/^<notice>The files in the result of call \S+ \(Read\)\. /);
    const [, second, third] = world.model.requests;
    if (second !== undefined && third !== undefined) assertAppendOnly(second, third);
  });

  it('are in the log only by their hash, and are still there when the task continues', async () => {
    const script = callsInTurn([read('a.png')]);
    await using world = await openWorld({ script });
    put(world, FILES);
    await world.run(['-p', 'look']);
    const log = logOf(world);
    const [png] = [FILES['a.png']];
    expect(log).toContain(
      `"attachments":[{"type":"image/png","bytes":80,"width":30,"height":20,"tokens":1,"blob":"${sha256(png)}"}]`,
    );
    expect(log).not.toContain(png.toString('base64').slice(0, 20));
    expect(readFileSync(join(world.sandbox.data, 'blobs', sha256(png)))).toEqual(png);
    // What the model was shown stays what it was.
    put(world, { 'a.png': pngOf(9, 9) });
    const before = world.model.requests.at(-1);
    await world.run(['--continue', '-p', 'again']);
    const after = world.model.requests.at(-1);
    if (before !== undefined && after !== undefined) assertAppendOnly(before, after);
    expect(shownBy(world.model)).toEqual([['a.png: PNG image, 30 × 20 pixels, 80 bytes', png]]);
  });

  it('are the same in a rerun, are counted by context, and are described to a model that takes none', async () => {
    await using world = await openWorld({ script: callsInTurn([read('a.png'), read('b.pdf')]) });
    put(world, { ...FILES, 'a.png': pngOf(1500, 1000) });
    await world.run(['-p', 'look']);
    const id = /"task":"([a-z0-9]+)"/.exec(logOf(world))?.[1] ?? '';
    expect(clean(await tasks(world, 'rerun', id))).toMatch(/identical\n$/);
    const view = clean(await tasks(world, 'context', id));
    // 1500 × 1000 / 750 is more than the most that one takes; two pages of 3000.
    expect(view).toMatch(/images +1 +\S+ +1600\b/);
    expect(view).toMatch(/documents +1 +\S+ +6000\b/);
    for (const page of [
      await tasks(world, 'show', id),
      await tasks(world, 'show', id, '--html', '-'),
    ]) {
      expect(page).toMatchObject({ code: 0, stderr: '' });
      expect(page.stdout).not.toContain(FILES['b.pdf'].toString('base64').slice(0, 20));
    }
    const turns = logOf(world).split('\n');
    const at = turns.findIndex((line) => line.includes('"type":"call.ended"'));
    expect(at).toBeGreaterThan(0);
    world.sandbox.write(
      '../home/.config/muster/config.toml',
      '[models.catalogue."anthropic/claude-blind"]\nattachments = []\n',
    );
    await world.run(['--continue', '-p', 'again', '--model', 'anthropic/claude-blind']);
    expect(shownBy(world.model)).toEqual([
      [expect.stringMatching(/Not shown: anthropic\/claude-blind accepts no images\.\]$/)],
      [expect.stringMatching(/Not shown: anthropic\/claude-blind accepts no PDF documents\.\]$/)],
    ]);
  });

  it('are exported with their task, and deleted with it', async () => {
    await using world = await openWorld({ script: callsInTurn([read('a.png')]) });
    put(world, FILES);
    await world.run(['-p', 'look']);
    const id = /"task":"([a-z0-9]+)"/.exec(logOf(world))?.[1] ?? '';
    const exported = clean(await tasks(world, 'export', id));
    const hash = sha256(FILES['a.png']);
    clean(await tasks(world, 'delete', id));
    expect(blobsOf(world)).not.toContain(hash);
    const file = world.sandbox.write('tree.jsonl', exported);
    clean(await tasks(world, 'import', file));
    expect(readFileSync(join(world.sandbox.data, 'blobs', hash))).toEqual(FILES['a.png']);
    await world.run(['-p', 'again', '--resume', id]);
    expect(shownBy(world.model)).toEqual([
      ['a.png: PNG image, 30 × 20 pixels, 80 bytes', FILES['a.png']],
    ]);
  });

  it('are in a forked conversation and in a branch, and not in files that are transferred', async () => {
    await using world = await openWorld({
      script(request) {
        const round = toolResultRounds(request);
        if (request.messages.some(({ text }) => text.startsWith('part'))) return { text: 'seen' };
        if (round === 0) return { toolCalls: [read('a.png')] };
        if (round > 1) return { text: 'done' };
        const files = { files: ['a.png'] };
        return {
          toolCalls: [
            { name: 'Task', input: { prompt: 'part one', context: 'inherit' } },
            { name: 'Task', input: { prompt: 'part two', context: files } },
          ],
        };
      },
    });
    put(world, FILES);
    expect(await world.run(['-p', 'look'])).toMatchObject({ code: 0 });
    const [first, second, ...more] = world.model.requests;
    const child = more.find(({ messages }) => messages.at(-1)?.text.includes('part one'));
    if (second !== undefined && child !== undefined) assertAppendOnly(second, child);
    expect(child?.messages[2]?.toolResults[0]?.attachments).toHaveLength(1);
    expect(lastResults(world.model)[1]?.text).toContain(
      'context.files: "a.png": a.png: PNG image, 30 × 20 pixels, 80 bytes. Not shown: files are handed on as text. Name it in the prompt, and the subagent reads it itself.',
    );
    expect(first?.messages).toHaveLength(1);
    const list = JSON.parse(clean(await tasks(world, 'list', '--json')));
    const root = list.find(({ parent }: { readonly parent: string | null }) => parent === null).id;
    const events = clean(await tasks(world, 'log', root, '--json'))
      .trimEnd()
      .split('\n');
    const at = events.map((line) => JSON.parse(line)).find(({ type }) => type === 'call.ended').seq;
    const branch = await world.run(['tasks', 'branch', root, '--at', String(at)]);
    expect(branch.code).toBe(0);
    const shown = world.model.requests.flatMap(({ messages }) =>
      messages.flatMap(({ toolResults }) => toolResults.flatMap((each) => each.attachments ?? [])),
    );
    expect(new Set(shown.map(({ base64 }) => base64))).toEqual(
      new Set([FILES['a.png'].toString('base64')]),
    );
  });

  it('are kept for a child that asks for a summary of the conversation that shows them', async () => {
    await using world = await openWorld({
      script(request) {
        const round = toolResultRounds(request);
        const said = request.messages.at(-1)?.text ?? '';
        if (said.includes('part one')) return { text: 'seen' };
        if (round === 0) return { toolCalls: [read('a.png'), read('long.txt')] };
        if (round > 1) return { text: 'done' };
        const input = { prompt: 'part one', context: 'summary' };
        return { toolCalls: [{ name: 'Task', input }] };
      },
    });
    put(world, { ...FILES, 'long.txt': Buffer.from('a line of words\n'.repeat(600)) });
    expect(await world.run(['-p', 'look'])).toMatchObject({ code: 0 });
    const list = JSON.parse(clean(await tasks(world, 'list', '--all', '--json')));
    const child = list.find(({ parent }: { readonly parent: string | null }) => parent !== null).id;
    const [created = ''] = clean(await tasks(world, 'log', child, '--json')).split('\n');
    expect(JSON.parse(created).spec.summarised.blobs).toHaveLength(1);
  });

  it('are checked by their bytes and their path like any file, and nothing huge is read', async () => {
    const names = ['text.png', 'picture.txt', 'huge.png', 'half.png', 'link.png', 'deep.gif'];
    await using world = await openWorld({ script: callsInTurn(names.map(read)) });
    put(world, {
      'text.png': Buffer.from('only text\n'),
      'picture.txt': FILES['a.png'],
      'huge.png': FILES['a.png'],
      'half.png': FILES['a.png'].subarray(0, 60),
      'deep.gif': gifOf(2, 2, 3),
    });
    truncateSync(join(world.sandbox.workspace, 'huge.png'), 100 * 2 ** 20);
    const secret = world.sandbox.write('../outside.png', '');
    writeFileSync(secret, FILES['a.png']);
    symlinkSync(secret, join(world.sandbox.workspace, 'link.png'));
    expect(await world.run(['-p', 'look'])).toMatchObject({ code: 0 });
    const results = lastResults(world.model);
    expect(results.map(({ text, attachments = [] }) => [text, attachments.length])).toEqual([
      ['1\tonly text', 0],
      ['picture.txt: PNG image, 30 × 20 pixels, 80 bytes', 1],
      [
        'huge.png: PNG image, 30 × 20 pixels, 104857600 bytes. Not shown: it has more than 3932160 bytes (limit image_bytes). Make a smaller one of it first.',
        0,
      ],
      [
        'half.png: PNG image, 30 × 20 pixels, 60 bytes. Not shown: it is cut off. Look at it with a program (Bash).',
        0,
      ],
      [expect.stringContaining('outside'), 0],
      ['deep.gif: GIF image, 2 × 2 pixels, 3 frames, 65 bytes', 1],
    ]);
  });

  it('stay within the limits of a request, also when many are read at once', async () => {
    const names = Array.from({ length: 23 }, (_, at) => `${at}.png`);
    await using world = await openWorld({ script: callsInTurn(names.map(read), [read('0.png')]) });
    put(world, Object.fromEntries(names.map((name, at) => [name, pngOf(2, 2, at)])));
    await world.run(['-p', 'look']);
    const results = world.model.requests.at(-1)?.messages.flatMap((each) => each.toolResults) ?? [];
    expect(results.filter(({ attachments }) => attachments !== undefined)).toHaveLength(20);
    expect(results.at(-1)?.text).toContain('(limit images = 20)');
  });

  it('can be read again after they were cleared', async () => {
    const big = pngOf(1500, 1000);
    await using world = await openWorld({
      script(request) {
        const round = toolResultRounds(request);
        const cleared = /TaskOutput\(task_id: (?:"|&quot;)(\S+?#\d+)/.exec(
          request.rawBody.replaceAll('\\"', '"'),
        );
        if (cleared !== null && !request.rawBody.includes('as it was then')) {
          return { toolCalls: [{ name: 'TaskOutput', input: { task_id: cleared[1] ?? '' } }] };
        }
        return round < 12 && cleared === null
          ? { toolCalls: [read(`${round}.png`)] }
          : { text: 'done' };
      },
    });
    put(world, Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`${at}.png`, big])));
    world.sandbox.write(
      '../home/.config/muster/config.toml',
      '[models.catalogue."anthropic/claude-small"]\ncontext_window = 24000\noutput_limit = 2000\n',
    );
    expect(await world.run(['-p', 'look', '--model', 'anthropic/claude-small'])).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect(logOf(world)).toContain(
      'Cleared to make room in your context window: PNG image, 1500 × 1000 pixels',
    );
    const [last] = lastResults(world.model);
    expect(last?.text).toContain('Result of Read, as it was then:');
    expect(last?.attachments?.map(({ base64 }) => Buffer.from(base64, 'base64'))).toEqual([big]);
  });
});
