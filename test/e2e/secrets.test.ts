import { readdirSync, readFileSync, statSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { BIN } from './muster.ts';
import { bash, callsInTurn, openWorld } from './world.ts';

const SECRET = 'p4ss-w0rd+with/slash';
const FORMS = [
  SECRET,
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString('base64').replace(/=+$/, ''),
];
const KEY = `glpat-${'aB3'.repeat(8)}`;

/** Every file below a directory: path, mode, content. */
function filesBelow(directory: string) {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const mode = (statSync(path).mode & 0o777).toString(8);
    const isFile = entry.isFile();
    return { path, mode, isFile, text: isFile ? readFileSync(path, 'latin1') : '' };
  });
}

describe.concurrent('secrets', () => {
  it('are in no file of the state directory, and in no request of this or a later run', async () => {
    await using world = await openWorld({
      files: {
        'secret.txt': FORMS.join('\n'),
        // Longer than what a result may hold, and written in two pieces through the secret.
        'print.sh': `for i in $(seq 4000); do echo "line $i"; done; printf '%s' '${KEY.slice(0, 12)}'; sleep 0.3; printf '%s\\n' '${KEY.slice(12)}'`,
      },
      script: callsInTurn([
        { name: 'Read', input: { file_path: 'secret.txt' } },
        bash('bash print.sh'),
        bash(`echo ${KEY}`),
      ]),
    });
    const env = { MY_PASSWORD: SECRET };
    const run = await world.run(['-p', `use ${SECRET}`, '--allow', 'Bash'], { env });
    expect(run.code).toBe(0);
    const again = await world.run(['-p', 'and now', '--continue'], { env });
    expect(again.code).toBe(0);
    const { requests } = world.model;
    const [, second, third] = requests;
    for (const secret of [...FORMS, KEY]) {
      for (const { path, text } of filesBelow(world.sandbox.data)) {
        expect([path, text.includes(secret)]).toEqual([path, false]);
      }
      expect(requests.filter(({ rawBody }) => rawBody.includes(secret))).toEqual([]);
    }
    expect(filesBelow(world.sandbox.data).some(({ text }) => text.includes('line 4000'))).toBe(
      true,
    );
    // What a later run sends of the history is byte for byte what the first one sent.
    const results = (request: typeof second) =>
      request?.messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
    expect(results(third)).toEqual(results(second));
  });

  it('are in no error either', async () => {
    await using world = await openWorld();
    const env = { MY_PASSWORD: SECRET };
    const run = await world.run(['-p', 'x', '--agent', SECRET], { env });
    expect(run.code).toBe(2);
    expect(run.stderr).not.toContain(SECRET);
    expect(run.stderr).toContain('[redacted by Muster]');
  });
});

it.each(['000', '077'])('everything that is created is private under umask %s', async (umask) => {
  await using world = await openWorld({
    script: callsInTurn([
      { name: 'Task', input: { prompt: 'look' } },
      bash('for i in $(seq 9000); do echo "line $i"; done'),
      { name: 'Bash', input: { command: 'echo bg', run_in_background: true } },
    ]),
  });
  const { sandbox } = world;
  const env = {
    ...sandbox.environment(world.model.env('anthropic')),
    XDG_STATE_HOME: `${sandbox.home}/state`,
  };
  const script = `umask ${umask} && exec "$0" "$@"`;
  const muster = async (...args: readonly string[]) =>
    (
      await promisify(execFile)('bash', ['-c', script, process.execPath, BIN, ...args], {
        cwd: sandbox.workspace,
        env,
      })
    ).stdout;
  expect(await muster('-p', 'go', '--allow', 'Bash')).toBe('done\n');
  const tasks: readonly { id: string; parent: string | null }[] = JSON.parse(
    await muster('tasks', 'list', '--json'),
  );
  const root = tasks.find(({ parent }) => parent === null)?.id ?? '';
  await muster('tasks', 'export', root, 'out.json');
  const made = [...filesBelow(sandbox.data), ...filesBelow(sandbox.home)];
  const wrong = made.filter(({ isFile, mode }) => mode !== (isFile ? '600' : '700'));
  expect(wrong.map(({ path, mode }) => [path, mode])).toEqual([]);
  expect((statSync(join(sandbox.workspace, 'out.json')).mode & 0o777).toString(8)).toBe('600');
});
