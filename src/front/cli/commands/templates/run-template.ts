import { resolve } from 'node:path';
import {
  loadDefinitions,
  loadSessions,
  type EventListener,
  type Session,
  type Run,
  type TemplateReport,
  type TemplateRequest,
} from '../../../../api/index.ts';
import { errorMessage, UsageError } from '../../../../base/errors.ts';
import { collapseWhitespace, plural } from '../../../../base/text.ts';
import { printJson, printText } from '../../../../sys/print.ts';
import { checkNewFile, SHARED_MODE, writeNewFile, type OutputFile } from '../../new-file.ts';
import { printNotice } from '../../output.ts';
import { toSessionOptions, reportOffline } from '../../run-prompt.ts';
import { readAll } from '../../stdin.ts';
import { describeOutcome, type OneLanding } from '../tasks/landing-outcome.ts';
import { printLines } from '../tasks/print.ts';
import { askToLand, landAttempts, listLandable } from './land-attempts.ts';
import { reportText } from './table.ts';
import type { TemplateAction, TemplateRunOptions } from '../../run-options.ts';
import { dropMissing } from '../../../../base/drop-missing.ts';
import { agentsLocation } from '../agents/location.ts';
import type { CommandContext } from '../../command.ts';

type Start = Extract<TemplateAction, { readonly kind: 'start' }>;
type Continue = Extract<TemplateAction, { readonly kind: 'continue' }>;

/**
 * Starts or continues the run of a template, lands the best attempts if the user wants that, and prints the results.
 * Returns the exit code.
 */
export async function runTemplate(
  options: TemplateRunOptions,
  action: Start | Continue,
  context: CommandContext,
): Promise<number> {
  const out = outFile(options);
  const { code, report } = await runToReport(options, action);
  if (report === null) return code;
  const { format } = options;
  const waiting = ENDED.has(report.status) ? listLandable(report) : [];
  const landings = options.apply ? await landAttempts(waiting, options) : [];
  const text = reportText(report, format, landings);
  if (out !== null) await writeNewFile(out, [text]);
  else printText(text, format === 'text' ? 'exact' : 'plain');
  if (options.apply) return someFailed(landings) ? NOT_LANDED_CODE : code;
  if (format !== 'text' || waiting.length === 0 || context.confirm === null) return code;
  if (!(await context.confirm(askToLand(waiting)))) return code;
  const later = await landAttempts(waiting, options);
  for (const outcome of later) printLines(...describeOutcome(outcome, 'applied'));
  return someFailed(later) ? NOT_LANDED_CODE : code;
}

/** The states of a run that has ended by itself. Otherwise nothing lands, because a better attempt may follow. */
const ENDED: ReadonlySet<TemplateReport['status']> = new Set(['completed', 'partial', 'failed']);
const NOT_LANDED_CODE = 1;

function someFailed(landings: readonly OneLanding[]): boolean {
  return landings.some(({ kind }) => kind === 'conflicts' || kind === 'refused');
}

/** Runs to the end. Returns the exit code and the report, which is null if a signal ended the run before it started. */
async function runToReport(
  options: TemplateRunOptions,
  action: Start | Continue,
): Promise<{ readonly code: number; readonly report: TemplateReport | null }> {
  const session = await toSessionOptions(options);
  // A run can only continue in its log.
  const { openSession } = await loadSessions();
  const muster = await openSession({
    ...session,
    ...(action.kind === 'continue' ? { log: true } : {}),
    // The servers that the agents of the items may use are asked when the run starts.
    mainAgent: null,
  });
  try {
    const { runItems } = await import('../../../headless/run-items.ts');
    const begin = (onEvent: EventListener, signal: AbortSignal) =>
      action.kind === 'start'
        ? startRun(muster, action, { onEvent, signal })
        : continueRun(muster, action, onEvent);
    const { dataDir, verbose } = options;
    const { id, code } = await runItems(muster, begin, {
      verbose: verbose || muster.verbose,
      dataDir: dataDir === null ? null : resolve(dataDir),
    });
    return { code, report: id === null ? null : muster.templateReport(id) };
  } finally {
    await muster.close();
  }
}

/** Returns the file for the results. Throws UsageError if it cannot be written, before any request is paid for. */
function outFile({ out, force }: TemplateRunOptions): OutputFile | null {
  if (out === null) return null;
  const file = { path: resolve(out), force, mode: SHARED_MODE };
  try {
    checkNewFile(file);
  } catch (thrown) {
    throw new UsageError(`--out ${errorMessage(thrown)}`, { cause: thrown });
  }
  return file;
}

async function startRun(
  muster: Session,
  action: Start,
  { onEvent, signal }: { readonly onEvent: EventListener; readonly signal: AbortSignal },
): Promise<Run> {
  const { source, items } = await readActionItems(muster, action.items, signal);
  noticeUnfinished(muster, action.template);
  reportOffline(muster);
  const { template, agent, maxTurns, attempts, models, score } = action;
  const chosen = dropMissing({ agent, maxTurns, attempts, models, score });
  return muster.startTemplate({ template, items, source, ...chosen }, onEvent);
}

async function readActionItems(
  muster: Session,
  items: Start['items'],
  signal: AbortSignal,
): Promise<Pick<TemplateRequest, 'source' | 'items'>> {
  if (typeof items !== 'string') return { source: { kind: 'arguments' }, items };
  const { loadItems } = await loadDefinitions();
  return await loadItems({
    argument: items,
    path: resolve(items),
    cwd: muster.cwd,
    readStdin: () => readAll('--items -', signal),
    signal,
  });
}

/** Says how to continue an unfinished run of the same template, because the user may have meant to continue that run. */
function noticeUnfinished(muster: Session, template: string): void {
  const newest = muster.newestTemplateRun();
  if (newest === null) return;
  const { id, agent: before, status } = newest;
  const isUnfinished = status === 'interrupted' || status === 'stopped' || status === 'killed';
  if (!isUnfinished || before.toLowerCase() !== template.toLowerCase()) return;
  printNotice(
    `the run ${id} of ${before} was not finished, and this is a new one; to continue the old one: muster run --continue ${id}`,
  );
}

async function continueRun(
  muster: Session,
  action: Continue,
  onEvent: EventListener,
): Promise<Run> {
  const prefix = action.id ?? muster.newestTemplateRun()?.id ?? null;
  if (prefix === null) {
    throw new UsageError('no run of a template of this directory is in the logs');
  }
  const { id, failed, itemChanges: changed } = await muster.templateRunLeft(prefix);
  if (changed !== null) printNotice(changed);
  if (failed > 0 && !action.retryFailed) {
    printNotice(
      `${plural(failed, 'item')} failed or ended at a limit; --retry-failed runs them again`,
    );
  }
  return muster.resume({ id, retryFailed: action.retryFailed }, onEvent);
}

/** Lists the templates (`muster run --list`), and those that could not be loaded, with the reason. */
export async function listTemplates(
  options: TemplateRunOptions,
  context: CommandContext,
): Promise<number> {
  const { listTemplatesIn } = await loadDefinitions();
  const found = await listTemplatesIn(agentsLocation(options, context));
  if (options.format === 'json') {
    printJson(found, 2);
    return 0;
  }
  for (const { name, description, path, agent, model, problems } of found.templates) {
    const traits = [path, agent, model].filter((trait) => trait !== undefined);
    const lines = [
      name,
      `  ${collapseWhitespace(description)}`,
      `  ${traits.join(' · ')}`,
      ...found.shadowed
        .filter(({ by }) => by === path)
        .map(({ template }) => `  in the place of ${template.path}`),
      ...problems.map(({ message }) => `  ! ${message}`),
    ];
    printText(`${lines.join('\n')}\n`);
  }
  for (const { path, reason } of found.skipped) printText(`skipped ${path}: ${reason}\n`);
  return 0;
}
