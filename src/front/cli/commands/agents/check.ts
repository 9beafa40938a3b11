import { loadDefinitions, type AgentsCheckReport } from '../../../../api/index.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { plural } from '../../../../base/text.ts';
import { defineReportCommand, type CommandContext } from '../../command.ts';
import { PROJECT_FLAGS } from '../../run-options.ts';
import { formatPathGroup, formatShortPath } from './format.ts';
import { agentsLocation, agentsOptions, directoryOption, TRUST_DATA_DIR } from './location.ts';

const SEVERITY_WIDTH = 'warning'.length;

type Finding = AgentsCheckReport['findings'][number];

/** `muster agents check`: the exit code is 1 if there is an error, or with `--strict` a warning. */
export const agentsCheckCommand = defineReportCommand({
  words: 'agents check',
  summary: 'what is wrong, or worth knowing, with agents and their files',
  operands: [{ name: '[NAME|FILE…]', completes: { found: 'agents', paths: 'files' } }],
  flags: ['strict', 'json', 'dir', ...PROJECT_FLAGS, 'data-dir'],
  flagDetails: { 'data-dir': TRUST_DATA_DIR },
  examples: [
    'muster agents check',
    'muster agents check reviewer .claude/agents/tester.md --strict',
    'muster agents check --dir ../collection --json',
  ],
  parse: ({ operands, flags }) => ({
    ...agentsOptions(flags),
    names: operands,
    strict: flags.has('strict'),
    dir: flags.text('dir'),
  }),
  run: async (options, context) => {
    const { strict } = options;
    const { checkAgents, resolveAgentFiles } = await loadDefinitions();
    const report = await checkAgents({
      ...agentsLocation(options, context),
      ...directoryOption(options.dir, context),
      names: resolveAgentFiles(options.names, context.cwd),
    });
    const ok = !report.findings.some(
      ({ severity }) => severity === 'error' || (strict && severity === 'warning'),
    );
    return { json: { ok, ...report }, text: asText(report, context), code: ok ? 0 : 1 };
  },
});

/** Lists findings by file, and names the agent in a file of several agents. A finding about many files is listed once, at the end. */
function asText(report: AgentsCheckReport, { cwd, home }: CommandContext): string {
  const [untrusted, others] = [true, false].map((is) =>
    report.findings.filter(({ code }) => (code === 'untrusted') === is),
  );
  const files = [...Map.groupBy(others ?? [], ({ path }) => path)];
  const blocks = files.map(([path, findings]) => {
    const several = new Set(findings.map(({ agent }) => agent)).size > 1;
    return [
      `${formatShortPath(path, cwd, home)}\n`,
      ...findings.map((each) => findingLines(each, several)),
      '\n',
    ].join('');
  });
  const shown = (path: string): string => formatShortPath(path, cwd, home);
  return `${blocks.join('')}${untrustedLines(untrusted ?? [], shown)}${summary(report)}\n`;
}

function untrustedLines(untrusted: readonly Finding[], shown: (path: string) => string): string {
  const groups = [...Map.groupBy(untrusted, ({ message }) => message)];
  const lines = groups.map(([message, findings]) => {
    const paths = [...new Set(findings.map(({ path }) => path))].map(shown);
    return `note: ${formatPathGroup(paths)}: ${sanitizeLine(message)} [untrusted]\n`;
  });
  return lines.length === 0 ? '' : `${lines.join('')}\n`;
}

function findingLines(finding: Finding, several: boolean): string {
  const { agent, code, fix, line, message, severity } = finding;
  const where = line === null ? '' : `line ${line}: `;
  const who = several && agent !== null ? `${sanitizeLine(agent)}: ` : '';
  const lines = [
    `  ${severity.padEnd(SEVERITY_WIDTH)}  ${where}${who}${sanitizeLine(message)} [${code}]`,
    ...(fix === null ? [] : [`  ${' '.repeat(SEVERITY_WIDTH)}  → ${sanitizeLine(fix)}`]),
  ];
  return lines.map((each) => `${each}\n`).join('');
}

function summary({ agents, findings }: AgentsCheckReport): string {
  const checked = `${plural(agents, 'agent')} checked`;
  if (findings.length === 0) return `${checked}, nothing found`;
  const count = (severity: Finding['severity']): number =>
    findings.filter((each) => each.severity === severity).length;
  const counts = [
    plural(count('error'), 'error'),
    plural(count('warning'), 'warning'),
    plural(count('note'), 'note'),
  ];
  return `${checked}: ${counts.join(', ')}`;
}
