import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A small task that needs nothing but a shell. */
export interface ExampleTask {
  readonly name: string;
  readonly language?: string;
  readonly kind?: string;
  /** Further fields of `task.json`. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Writes tasks in which a greeting is wrong. The visible check is in the protected file `test.sh`. */
export function writeExampleTasks(directory: string, tasks: readonly ExampleTask[]): void {
  for (const { name, language = 'shell', kind = 'bug', fields = {} } of tasks) {
    const task = join(directory, name);
    const files: Readonly<Record<string, string>> = {
      'repo/greet.sh': 'echo hello\n',
      'repo/test.sh': 'test "$(sh greet.sh)" = "hello, world"\n',
      'hidden/hidden.sh': 'test "$(sh greet.sh)" = "hello, world" && sh test.sh\n',
      'task.json': JSON.stringify({
        language,
        kind,
        prompt: `The greeting of ${name} must be "hello, world". Run sh test.sh.`,
        check: 'sh test.sh',
        hiddenCheck: 'sh hidden.sh',
        protected: ['test.sh'],
        needs: { sh: 'dash' },
        ...fields,
      }),
      'solution.patch': [
        'diff --git a/greet.sh b/greet.sh',
        '--- a/greet.sh',
        '+++ b/greet.sh',
        '@@ -1 +1 @@',
        '-echo hello',
        '+echo "hello, world"',
        '',
      ].join('\n'),
    };
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(task, path)), { recursive: true });
      writeFileSync(join(task, path), content);
    }
  }
}

/** Lists the processes whose environment has a variable with this value. */
export function processesWith(variable: string, value: string): readonly number[] {
  const text = execFileSync('sh', [
    '-c',
    `grep -slzxF -- "$1" /proc/[0-9]*/environ || true`,
    'sh',
    `${variable}=${value}`,
  ]).toString('utf8');
  return [...text.matchAll(/\/proc\/(\d+)\//g)].map(([, pid]) => Number(pid));
}
