import { fit, wrapped } from './fit.ts';
import type { Pen } from './pen.ts';
import type { Muster, SandboxState } from '../../../api/index.ts';
import { errorMessage } from '../../../base/errors.ts';
import { VERSION } from '../../../base/version.ts';

/** The facts on the start screen. */
export interface StartFacts {
  readonly version: string;
  readonly cwd: string;
  readonly model: string;
  readonly sandbox: string;
  readonly agents: string;
  /** Missing things with the way to get them, one line each. */
  readonly missing: readonly string[];
}

export function startScreen(facts: StartFacts, width: number, pen: Pen): readonly string[] {
  const rows: readonly (readonly [string, string])[] = [
    ['directory', facts.cwd],
    ['model', facts.model],
    ['sandbox', facts.sandbox],
    ['agents', facts.agents],
  ];
  return [
    fit(`${pen.prose('strong', 'Muster')} ${pen.prose('dim', facts.version)}`, width),
    '',
    ...rows.flatMap(([name, value]) => factLines(name, value, width, pen)),
    ...(facts.missing.length === 0 ? [] : ['']),
    ...facts.missing.flatMap((line) => {
      const [first = '', ...rest] = wrapped(pen.exact('warn', line), width - 2, '');
      return [`${pen.paint('warn', '!')} ${first}`, ...rest.map((each) => `  ${each}`)];
    }),
    '',
    ...wrapped(
      pen.prose('dim', 'Type what you want done. /help lists commands and keys.'),
      width,
      '',
    ),
  ];
}

const NAME_WIDTH = 11;

function factLines(name: string, value: string, width: number, pen: Pen): readonly string[] {
  const label = pen.prose('dim', name.padEnd(NAME_WIDTH));
  const lines = wrapped(pen.exact('text', value), width - NAME_WIDTH, '');
  return lines.map((line, index) => `${index === 0 ? label : ' '.repeat(NAME_WIDTH)}${line}`);
}

type FactsMuster = Pick<Muster, 'agents' | 'cwd' | 'mainModel' | 'models' | 'offlineByDefault'>;

const NO_MODEL =
  'no model is configured: the offline search engine answers, and writes no code. For a real one set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; muster models lists what is found';

/** Collects the facts on the start screen. `sandbox` is null until it has been tried out. */
export function startFacts(
  muster: FactsMuster,
  {
    sandbox,
    notices,
  }: { readonly sandbox: SandboxState | null; readonly notices: readonly string[] },
): StartFacts {
  const model = mainModel(muster);
  return {
    version: VERSION,
    cwd: muster.cwd,
    model: model.name,
    sandbox: sandboxText(sandbox),
    agents: agentsText(muster),
    missing: [
      ...model.missing,
      ...(sandbox?.on === false && sandbox.instead === undefined
        ? [
            `no sandbox: ${sandbox.because}. Only the permission rules restrict shell commands. To get one: ${sandbox.hint}`,
          ]
        : []),
      ...notices,
    ],
  };
}

function mainModel(muster: FactsMuster): {
  readonly name: string;
  readonly missing: readonly string[];
} {
  try {
    const { provider, id } = muster.mainModel();
    if (muster.offlineByDefault) {
      return { name: 'offline', missing: [NO_MODEL] };
    }
    return { name: `${provider}/${id}`, missing: [] };
  } catch (thrown) {
    return { name: 'none', missing: [errorMessage(thrown)] };
  }
}

function sandboxText(state: SandboxState | null): string {
  if (state === null) return 'being tried out …';
  if (state.on) return `${state.kind}: the operating system restricts commands`;
  return state.instead === 'container' ? 'this machine, as you configured' : 'none';
}

function agentsText({ agents }: FactsMuster): string {
  const own = agents.agents.filter(({ origin }) => origin.scope !== 'builtin');
  const builtin = agents.agents.length - own.length;
  const names = own.slice(0, 8).map(({ name }) => name);
  if (own.length > names.length) names.push('…');
  return [
    `${builtin} built in`,
    ...(own.length === 0 ? [] : [`${own.length} of yours: ${names.join(', ')}`]),
  ].join(', ');
}
