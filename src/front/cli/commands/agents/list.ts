import { loadDefinitions, type AgentListings } from '../../../../api/index.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { collapseWhitespace, plural } from '../../../../base/text.ts';
import { defineReportCommand } from '../../command.ts';
import { PROJECT_FLAGS } from '../../run-options.ts';
import { cutLine, formatPathGroup, formatMode, formatOrigin, formatShortPath } from './format.ts';
import { formatTools } from '../../../../report/agent-tools.ts';
import { agentsLocation, agentsOptions, directoryOption, TRUST_DATA_DIR } from './location.ts';

type Listing = AgentListings['agents'][number];

/** The maximum length of a description in code points. It has a line of its own, after four blanks. */
const SHOWN_DESCRIPTION = 76;
/** The maximum width of the column of names. A longer name shifts only the rest of its own line to the right. */
const MAX_NAME_WIDTH = 24;

/** `muster agents list` */
export const agentsListCommand = defineReportCommand({
  words: 'agents list',
  summary: 'which agents there are, where each comes from and what it may do',
  operands: [],
  flags: ['verbose', 'json', 'dir', ...PROJECT_FLAGS, 'data-dir'],
  flagDetails: {
    verbose: {
      group: 'General',
      help: 'everything known of each, and agents that another one of the same name hides',
    },
    'data-dir': TRUST_DATA_DIR,
  },
  examples: ['muster agents list', 'muster agents list --json --dir ~/.claude'],
  parse: ({ flags }) => ({
    ...agentsOptions(flags),
    verbose: flags.has('verbose'),
    dir: flags.text('dir'),
  }),
  run: async (options, context) => {
    const { verbose } = options;
    const { dir } = directoryOption(options.dir, context);
    const definitions = await loadDefinitions();
    const listings =
      dir === undefined
        ? await definitions.listAgentsIn(agentsLocation(options, context))
        : await definitions.listAgentsBelow(dir);
    const from = { cwd: dir ?? context.cwd, home: context.home, byPath: dir !== undefined };
    const list = verbose ? longList(listings, from) : shortList(listings, from);
    const text = list + skippedLines(listings, from) + summaryLine(listings, { verbose });
    return { json: listings, text };
  },
});

/** The way in which paths are shown. */
interface PathDisplay {
  readonly cwd: string;
  readonly home: string;
  /** Whether each agent is shown with its path instead of its scope. It is set for `--dir`, where scopes mean nothing. */
  readonly byPath: boolean;
}

/** Writes two lines for each agent that can be used. They fit into 80 columns. */
function shortList({ agents }: AgentListings, from: PathDisplay): string {
  const used = agents.filter(({ shadowedBy }) => shadowedBy === null);
  const names = used.map(formatName);
  const widths = names.map((name) => name.length).filter((width) => width <= MAX_NAME_WIDTH);
  const width = Math.max(0, ...widths);
  return used
    .map((agent, index) => {
      const line = cutLine(agent.description, SHOWN_DESCRIPTION) || '(no description)';
      const name = (names[index] ?? '').padEnd(width);
      return `${name}  ${traits(agent, from).join(' · ')}\n    ${line}\n`;
    })
    .join('');
}

/** Lists the origin of an agent, its mode, and everything that differs from the defaults. */
function traits(agent: Listing, from: PathDisplay): readonly string[] {
  const { model, shadows, warnings } = agent;
  return [
    origin(agent, from),
    formatMode(agent),
    ...(model === null || model === 'inherit' ? [] : [sanitizeLine(model)]),
    ...(shadows.length === 0 ? [] : [`in the place of ${shadowed(shadows, from)}`]),
    ...(warnings.length === 0 ? [] : [plural(warnings.length, 'warning')]),
  ];
}

/** Returns the name of an agent, and its id if the two differ. */
function formatName({ id, name }: Listing): string {
  return sanitizeLine(id === name ? name : `${name} (${id})`);
}

function origin(agent: Listing, { byPath, cwd, home }: PathDisplay): string {
  return byPath
    ? `${formatShortPath(agent.path, cwd, home)}, ${agent.vendor}`
    : formatOrigin(agent);
}

function shadowed(paths: readonly string[], { cwd, home }: PathDisplay): string {
  const [first = ''] = paths;
  const builtin = paths.find((path) => path.startsWith('builtin:'));
  const shown = builtin === undefined ? formatShortPath(first, cwd, home) : 'the built-in one';
  return paths.length === 1 ? shown : `${shown} and ${plural(paths.length - 1, 'other')}`;
}

/** Writes everything that the listing knows, also about agents that are not used. */
function longList({ agents }: AgentListings, { cwd, home }: PathDisplay): string {
  return agents
    .map((agent) => {
      const { shadowedBy, warnings, shadows, aliases, description, maxTurns, disallowedTools } =
        agent;
      const names = [formatName(agent), ...aliases.map(sanitizeLine)].join(', ');
      const state =
        shadowedBy === null ? '' : `  [not used: ${formatShortPath(shadowedBy, cwd, home)}]`;
      const turns = maxTurns === null ? [] : [plural(maxTurns, 'turn')];
      const notes = agent.memory === undefined ? [] : [`keeps notes (${agent.memory})`];
      const facts = [formatMode(agent), sanitizeLine(agent.model ?? 'inherit'), ...turns, ...notes];
      const denied =
        disallowedTools.length === 0 ? '' : `; never ${sanitizeLine(disallowedTools.join(', '))}`;
      const lines = [
        `${names}${state}`,
        `  ${sanitizeLine(collapseWhitespace(description)) || '(no description)'}`,
        `  ${formatShortPath(agent.path, cwd, home)} (${formatOrigin(agent)})`,
        `  ${facts.join(' · ')}`,
        `  tools: ${formatTools(agent)}${denied}`,
        ...shadows.map((path) => `  in the place of ${formatShortPath(path, cwd, home)}`),
        ...warnings.map(({ line, message }) => {
          const where = line === undefined ? '' : `line ${line}: `;
          return `  ! ${where}${sanitizeLine(message)}`;
        }),
      ];
      return `${lines.join('\n')}\n`;
    })
    .join('\n');
}

/** Lists the skipped files, one line for each reason. */
function skippedLines({ skipped }: AgentListings, { cwd, home }: PathDisplay): string {
  return [...Map.groupBy(skipped, ({ code }) => code).values()]
    .map((files) => {
      const paths = files.map(({ path }) => formatShortPath(path, cwd, home));
      return `skipped ${formatPathGroup(paths)}: ${sanitizeLine(files[0]?.reason ?? '')}\n`;
    })
    .join('');
}

function summaryLine(
  { agents }: AgentListings,
  { verbose }: { readonly verbose: boolean },
): string {
  const unused = agents.filter(({ shadowedBy }) => shadowedBy !== null).length;
  const warned = agents.filter(({ warnings }) => warnings.length > 0).length;
  const parts = [
    plural(agents.length - unused, 'agent'),
    ...(unused === 0
      ? []
      : [
          `${unused} not used, because another agent has the same name${verbose ? '' : ' (--verbose)'}`,
        ]),
    ...(warned === 0 ? [] : [`${warned} with warnings (muster agents check)`]),
  ];
  return `${parts.join('; ')}\n`;
}
