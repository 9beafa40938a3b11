/** A formatter, with the settings files by which a project chooses it. */
export interface FormatterRow {
  readonly program: string;
  /** The arguments with which it formats stdin to stdout. `{file}` and `{edition}` are replaced. */
  readonly args: readonly string[];
  /** The endings of the files that it formats. */
  readonly endings: readonly string[];
  readonly settingsFiles: readonly string[];
  /** Files that contain settings only if they contain this text at the start of a line. */
  readonly settingsIn?: { readonly file: string; readonly text: string };
  /** True if it runs code that the settings name, so that the user must trust the project. */
  readonly runsProjectCode?: true;
}

const SCRIPT_ENDINGS = ['.js', '.jsx', '.mjs', '.cjs', '.ts', '.tsx', '.mts', '.cts'];
const WEB_ENDINGS = [...SCRIPT_ENDINGS, '.json', '.jsonc', '.css', '.html', '.vue'];
const PYTHON_ENDINGS = ['.py', '.pyi'];

/** The formatters that Muster knows. The first one with settings in the project and an installed program is used. */
export const FORMATTERS: readonly FormatterRow[] = [
  {
    program: 'oxfmt',
    args: ['--stdin-filepath={file}'],
    endings: [...WEB_ENDINGS, '.scss', '.less', '.md', '.yaml', '.yml', '.toml'],
    settingsFiles: ['.oxfmtrc.json', '.oxfmtrc.jsonc', 'oxfmt.config.ts'],
    runsProjectCode: true,
  },
  {
    program: 'biome',
    args: ['format', '--stdin-file-path={file}'],
    endings: [...WEB_ENDINGS, '.graphql'],
    settingsFiles: ['biome.json', 'biome.jsonc', '.biome.json', '.biome.jsonc'],
  },
  {
    program: 'prettier',
    args: ['--stdin-filepath', '{file}'],
    endings: [...WEB_ENDINGS, '.scss', '.less', '.md', '.yaml', '.yml', '.graphql'],
    settingsFiles: [
      ...['', '.json', '.yaml', '.yml', '.json5', '.toml'].map((ending) => `.prettierrc${ending}`),
      ...['js', 'cjs', 'mjs', 'ts', 'cts', 'mts'].flatMap((ending) => [
        `.prettierrc.${ending}`,
        `prettier.config.${ending}`,
      ]),
    ],
    settingsIn: { file: 'package.json', text: '"prettier":' },
    // Its settings are code or name plugins.
    runsProjectCode: true,
  },
  {
    program: 'ruff',
    args: ['format', '--stdin-filename', '{file}', '-'],
    endings: PYTHON_ENDINGS,
    settingsFiles: ['ruff.toml', '.ruff.toml'],
    settingsIn: { file: 'pyproject.toml', text: '[tool.ruff' },
  },
  {
    program: 'black',
    args: ['--quiet', '--stdin-filename', '{file}', '-'],
    endings: PYTHON_ENDINGS,
    settingsFiles: [],
    settingsIn: { file: 'pyproject.toml', text: '[tool.black' },
  },
  { program: 'gofmt', args: [], endings: ['.go'], settingsFiles: ['go.mod'] },
  {
    program: 'rustfmt',
    args: ['--edition', '{edition}'],
    endings: ['.rs'],
    settingsFiles: ['rustfmt.toml', '.rustfmt.toml'],
  },
  {
    program: 'clang-format',
    args: ['--assume-filename={file}'],
    endings: ['.c', '.h', '.cc', '.cpp', '.cxx', '.hh', '.hpp', '.hxx', '.java', '.proto'],
    settingsFiles: ['.clang-format', '_clang-format'],
  },
];
