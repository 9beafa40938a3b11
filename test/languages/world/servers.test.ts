import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installPackages } from '../../mcp/world/install.ts';
import { needs } from '../../needs.ts';
import { call, runCalls } from './code-world.ts';

/** One language with a wrong edit: the error that its server reports for it, and a part of an old error. */
interface Language {
  readonly name: string;
  readonly program: string;
  readonly files: Readonly<Record<string, string>>;
  readonly file: string;
  readonly reported: string;
  readonly old: string;
  /** The package of Debian that contains the program. Default: it comes from npm. */
  readonly debianPackage?: string;
  readonly flags?: readonly string[];
  readonly prepare?: (workspace: string) => Promise<void>;
}

/** typescript-language-server needs a compiler below version 7, which comes with `tsserver.js`. */
async function installOlderTypeScript(workspace: string): Promise<void> {
  // The sandbox hides other directories below /tmp, so a link would lead nowhere.
  const from = join(await older, 'node_modules');
  cpSync(from, join(workspace, 'node_modules'), { recursive: true, verbatimSymlinks: true });
}

const older = installPackages({ typescript: '5.9.3' });
const TYPESCRIPT_FILES = {
  'tsconfig.json':
    '{"compilerOptions":{"strict":true,"noEmit":true,"module":"nodenext","types":[]},"include":["src"]}\n',
  'src/a.ts':
    'export const old: string = 1;\nexport function add(a: number, b: number): number {\n  return a + b;\n}\n',
};

const LANGUAGES: readonly Language[] = [
  {
    name: 'TypeScript 7',
    program: 'tsc',
    files: TYPESCRIPT_FILES,
    file: 'src/a.ts',
    reported: `New problems in src/a.ts (tsc):
  3:3 error: Type 'string' is not assignable to type 'number'. [2322]`,
    old: "Type 'number' is not",
  },
  {
    name: 'TypeScript 5',
    program: 'typescript-language-server',
    files: TYPESCRIPT_FILES,
    file: 'src/a.ts',
    flags: ['--trust-project'],
    prepare: installOlderTypeScript,
    reported: `New problems in src/a.ts (typescript-language-server):
  3:3 error: Type 'string' is not assignable to type 'number'. [2322]`,
    old: "Type 'number' is not",
  },
  {
    name: 'Python',
    program: 'pyright-langserver',
    files: {
      'pyproject.toml': '[project]\nname = "x"\n',
      'a.py': 'def add(a: int, b: int) -> int:\n    return a + b\n\n\nold: str = 1\n',
    },
    file: 'a.py',
    reported: `New problems in a.py (pyright-langserver):
  2:12 error: Type "Literal['x']" is not assignable to return type "int" "Literal['x']" is not assignable to "int" [reportReturnType]`,
    old: 'declared type',
  },
  {
    name: 'C++',
    program: 'clangd',
    files: {
      'compile_flags.txt': '\n',
      'a.cpp': 'int add(int a, int b) {\n  return a + b;\n}\nint old = "y";\n',
    },
    debianPackage: 'clangd',
    file: 'a.cpp',
    reported: `New problems in a.cpp (clangd):
  2:10 error: Cannot initialize return object of type 'int' with an lvalue of type 'const char[2]' [init_conversion_failed]`,
    old: 'Cannot initialize a variable',
  },
  {
    name: 'Go',
    program: 'gopls',
    files: {
      'go.mod': 'module x\n\ngo 1.19\n',
      'a.go': 'package x\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n\nvar Old string = 1\n',
    },
    debianPackage: 'gopls',
    file: 'a.go',
    reported: `New problems in a.go (gopls):
  4:9 error: cannot use "x" (untyped string constant`,
    old: 'string value',
  },
];

describe.each(LANGUAGES)('a wrong edit of a $name file', (language) => {
  const { program, debianPackage, files, file, reported, old, flags = [], prepare } = language;
  const canRun = debianPackage === undefined || needs(program, debianPackage);
  it.runIf(canRun)(
    'is reported in its result, an old error is not, and nothing is left running',
    async () => {
      const { results, run, left } = await runCalls({
        files,
        calls: [
          call('Read', { file_path: file }),
          call('Edit', { file_path: file, old_string: 'return a + b', new_string: 'return "x"' }),
          call('Edit', { file_path: file, old_string: 'return "x"', new_string: 'return b' }),
        ],
        flags,
        ...(prepare === undefined ? {} : { prepare }),
      });
      expect(run).toMatchObject({ code: 0, stderr: '' });
      expect(left).toEqual([]);
      const [, wrong = '', right] = results;
      expect(wrong).toContain(reported);
      expect(wrong).not.toContain(old);
      expect(right).toMatch(/^Edited [^\n]*$/);
    },
  );
});
