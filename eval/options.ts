import { parseArgs } from 'node:util';
import { errorMessage, UsageError } from '../src/base/errors.ts';
import { FAMILY_CHOICES } from '../src/protocol/model-families/family-names.ts';
import { ALL_SHAPES, type Variants } from './plan.ts';
import { LANGUAGES } from './tasks.ts';

export const USAGE = `Usage: npm run eval -- --model PROVIDER/MODEL [options]
       npm run eval -- --compare A B
       npm run eval -- --validate

  --model MODEL            the model, as for muster --model; "scripted" needs no key and plays the solutions
  --only NAME              only this task, or these with commas; repeatable
  --language NAME          only tasks of this language, or these with commas; repeatable
  --delegation on|off|both with subagents, without, or one run of each (default: both)
  --family-shape NAME|all  the form of tools: ${FAMILY_CHOICES.join(', ')}; several with commas (default: auto)
  --repeat N               runs of each task and variant (default: 1)
  --jobs N                 runs at the same time (default: 4)
  --out DIR                where the results are kept; the same directory continues (default: .eval/MODEL)
  --max-cost-usd USD       the highest cost of one run
  --max-seconds N          the highest wall time of one agent
  --config FILE            a config.toml for the agents, for example with a provider of your own
  --script FILE            what the scripted model does with each task, as JSON
  --tasks DIR              other tasks than those of eval/tasks
  --list                   list the tasks
  --validate               check that each task fails as given and passes with its solution
  --compare A B            compare the results of two directories
  --help                   print this
`;

/** What the command line asks for. */
export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'list'; readonly selection: Selection }
  | { readonly kind: 'validate'; readonly selection: Selection; readonly jobs: number }
  | { readonly kind: 'compare'; readonly first: string; readonly second: string }
  | RunCommand;

/** The tasks that the command line selects. */
export interface Selection {
  /** The directory of the tasks; null for `eval/tasks`. */
  readonly directory: string | null;
  /** The names of the tasks; empty for all. */
  readonly only: readonly string[];
  /** The languages of the tasks; empty for all. */
  readonly languages: readonly string[];
}

/** An evaluation to begin or to continue. */
export interface RunCommand {
  readonly kind: 'run';
  readonly model: string;
  readonly selection: Selection;
  readonly variants: Variants;
  readonly jobs: number;
  /** The directory of the results; null for the default one. */
  readonly out: string | null;
  readonly maxCostUsd: number | null;
  readonly maxSeconds: number | null;
  readonly config: string | null;
  readonly script: string | null;
}

const DEFAULT_JOBS = 4;

const OPTIONS = {
  model: { type: 'string' },
  only: { type: 'string', multiple: true },
  language: { type: 'string', multiple: true },
  delegation: { type: 'string', default: 'both' },
  'family-shape': { type: 'string', multiple: true },
  repeat: { type: 'string' },
  jobs: { type: 'string' },
  out: { type: 'string' },
  'max-cost-usd': { type: 'string' },
  'max-seconds': { type: 'string' },
  config: { type: 'string' },
  script: { type: 'string' },
  tasks: { type: 'string' },
  list: { type: 'boolean', default: false },
  validate: { type: 'boolean', default: false },
  compare: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** Reads the command line. Throws UsageError. */
export function readCommand(args: readonly string[]): Command {
  const { values, positionals } = parse(args);
  if (values.help) return { kind: 'help' };
  const [first, second, ...rest] = positionals;
  if (values.compare) {
    if (first === undefined || second === undefined || rest.length > 0) {
      throw new UsageError('--compare needs two directories with results');
    }
    return { kind: 'compare', first, second };
  }
  if (first !== undefined) throw new UsageError(`unexpected argument: ${first}`);
  const selection: Selection = {
    directory: values.tasks ?? null,
    only: splitList(values.only),
    languages: splitList(values.language).map((name) => readChoice('language', name, LANGUAGES)),
  };
  if (values.list) return { kind: 'list', selection };
  const jobs = readNumber('jobs', values.jobs) ?? DEFAULT_JOBS;
  if (values.validate) return { kind: 'validate', selection, jobs };
  const { model } = values;
  if (model === undefined) throw new UsageError('--model is missing: npm run eval -- --help');
  if (values.script !== undefined && model !== 'scripted') {
    throw new UsageError('--script is for --model scripted only');
  }
  return {
    kind: 'run',
    model,
    selection,
    variants: {
      delegation: readChoice('delegation', values.delegation, ['on', 'off', 'both']),
      shapes: readShapes(splitList(values['family-shape'])),
      repeat: readNumber('repeat', values.repeat) ?? 1,
    },
    jobs,
    out: values.out ?? null,
    maxCostUsd: readNumber('max-cost-usd', values['max-cost-usd'], false),
    maxSeconds: readNumber('max-seconds', values['max-seconds']),
    config: values.config ?? null,
    script: values.script ?? null,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (thrown) {
    throw new UsageError(errorMessage(thrown));
  }
}

function splitList(values: readonly string[] = []): readonly string[] {
  return values.flatMap((value) => value.split(',')).filter((value) => value !== '');
}

function readShapes(names: readonly string[]): readonly string[] {
  if (names.length === 0) return ['auto'];
  if (names.includes('all')) return ALL_SHAPES;
  return [...new Set(names.map((name) => readChoice('family-shape', name, FAMILY_CHOICES)))];
}

function readChoice<const T extends string>(flag: string, value: string, valid: readonly T[]): T {
  const found = valid.find((each) => each === value);
  if (found !== undefined) return found;
  throw new UsageError(`--${flag}: "${value}" is not one of ${valid.join(', ')}`);
}

function readNumber(flag: string, text: string | undefined, isWhole = true): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && (isWhole ? Number.isSafeInteger(value) : true))
    return value;
  throw new UsageError(`--${flag}: "${text}" is not a ${isWhole ? 'whole ' : ''}number above 0`);
}
