import { checkAgents, type CheckReport } from '../../../../api/agents/check.ts';
import { jsonText } from '../../../../base/json-text.ts';
import { exactLine } from '../../../../base/terminal-text.ts';
import { plural } from '../../../../base/text.ts';
import type { AgentsCommand } from '../../command.ts';
import type { CommandContext } from '../context.ts';
import { agentsPlace, agentWords, dirOption } from './place.ts';
import { pathGroup, shownPath } from './words.ts';

type AgentsCheck = Extract<AgentsCommand, { kind: 'agents-check' }>;
const WIDEST = 'warning'.length;

type Finding = CheckReport['findings'][number];

/** `muster agents check`: exit code 1 where there is an error; with `--strict` for a warning, too. */
export async function checkAgentsCommand(
  command: AgentsCheck,
  context: CommandContext,
): Promise<number> {
  const report = await checkAgents({
    ...agentsPlace(command, context),
    ...dirOption(command.dir, context),
    names: agentWords(command.names, context),
  });
  const failing = report.findings.filter(
    ({ severity }) => severity === 'error' || (command.strict && severity === 'warning'),
  );
  const ok = failing.length === 0;
  context.out(command.json ? `${jsonText({ ok, ...report }, 2)}\n` : asText(report, context));
  return ok ? 0 : 1;
}

/** By file, and in it by agent where there are several; what holds for many files stands once, below. */
function asText(report: CheckReport, { cwd, home }: CommandContext): string {
  const [untrusted, others] = [true, false].map((is) =>
    report.findings.filter(({ code }) => (code === 'untrusted') === is),
  );
  const files = [...Map.groupBy(others ?? [], ({ path }) => path)];
  const blocks = files.map(([path, findings]) => {
    const several = new Set(findings.map(({ agent }) => agent)).size > 1;
    return [
      `${shownPath(path, cwd, home)}\n`,
      ...findings.map((each) => findingLines(each, several)),
      '\n',
    ].join('');
  });
  const shown = (path: string): string => shownPath(path, cwd, home);
  return `${blocks.join('')}${untrustedLines(untrusted ?? [], shown)}${summary(report)}\n`;
}

function untrustedLines(untrusted: readonly Finding[], shown: (path: string) => string): string {
  const groups = [...Map.groupBy(untrusted, ({ message }) => message)];
  const lines = groups.map(([message, findings]) => {
    const paths = [...new Set(findings.map(({ path }) => path))].map(shown);
    return `note: ${pathGroup(paths)}: ${exactLine(message)} [untrusted]\n`;
  });
  return lines.length === 0 ? '' : `${lines.join('')}\n`;
}

function findingLines(finding: Finding, several: boolean): string {
  const { agent, code, fix, line, message, severity } = finding;
  const where = line === null ? '' : `line ${line}: `;
  const who = several && agent !== null ? `${exactLine(agent)}: ` : '';
  const lines = [
    `  ${severity.padEnd(WIDEST)}  ${where}${who}${exactLine(message)} [${code}]`,
    ...(fix === null ? [] : [`  ${' '.repeat(WIDEST)}  → ${exactLine(fix)}`]),
  ];
  return lines.map((each) => `${each}\n`).join('');
}

function summary({ agents, findings }: CheckReport): string {
  const looked = plural(agents, 'agent');
  if (findings.length === 0) return `${looked} looked at, nothing found`;
  const of = (severity: Finding['severity']): number =>
    findings.filter((each) => each.severity === severity).length;
  const counts = [
    plural(of('error'), 'error'),
    plural(of('warning'), 'warning'),
    plural(of('note'), 'note'),
  ];
  return `${looked} looked at: ${counts.join(', ')}`;
}
