import { expect, it } from 'vitest';
import { runCalls } from './code-world.ts';

const TSCONFIG =
  '{"compilerOptions":{"strict":true,"noEmit":true,"module":"nodenext","types":[]},"include":["src"]}\n';

it('a wrong edit of a TypeScript file is reported in its result, and an old error is not', async () => {
  const { results, run } = await runCalls({
    files: {
      'tsconfig.json': TSCONFIG,
      'src/a.ts':
        'export const old: string = 1;\nexport function add(a: number, b: number): number {\n  return a + b;\n}\n',
    },
    calls: [
      { name: 'Read', input: { file_path: 'src/a.ts' } },
      {
        name: 'Edit',
        input: { file_path: 'src/a.ts', old_string: 'return a + b', new_string: 'return "x"' },
      },
    ],
  });
  expect(run.code).toBe(0);
  expect(results.at(-1)).toContain(
    "3:3 error: Type 'string' is not assignable to type 'number'. [2322]",
  );
  expect(results.at(-1)).not.toContain('old');
});
