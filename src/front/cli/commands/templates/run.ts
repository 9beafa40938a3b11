import { resolve } from 'node:path';
import { createMuster } from '../../../../api/muster.ts';
import type { EventListener, Muster, Run } from '../../../../api/index.ts';
import { errorMessage, UsageError } from '../../../../base/errors.ts';
import { plural } from '../../../../base/text.ts';
import { printText } from '../../../../sys/print.ts';
import type { RunTemplateCommand } from '../../command.ts';
import { stderrNotice } from '../../stderr.ts';
import { readAll } from '../../stdin.ts';
import { checkNewFile, SHARED, writeNewFile, type NewFile } from '../new-file.ts';
import { sessionAgents, tellOffline } from '../run.ts';
import { reportText } from './table.ts';

type Start = Extract<RunTemplateCommand['action'], { readonly kind: 'start' }>;
type Continue = Extract<RunTemplateCommand['action'], { readonly kind: 'continue' }>;

/** `muster run …`. The exit code is that of the run, as of `muster -p`. */
export async function templateCommand(command: RunTemplateCommand): Promise<number> {
  const { action } = command;
  if (action.kind === 'list') return (await import('./list.ts')).listTemplates(command);
  const out = outFile(command);
  const muster = await openMuster(command);
  try {
    const { runItems } = await import('../../../headless/run-items.ts');
    const dataDir = command.dataDir === null ? null : resolve(command.dataDir);
    const begin = (onEvent: EventListener, signal: AbortSignal) =>
      action.kind === 'start'
        ? start(muster, action, { onEvent, signal })
        : goOn(muster, action, onEvent);
    const { id, code } = await runItems(muster, begin, {
      verbose: command.verbose || muster.verbose,
      dataDir,
    });
    if (id === null) return code;
    const report = muster.templateReport(id);
    const text = reportText(report, command.format);
    if (out !== null) await writeNewFile(out, [text]);
    else printText(text, command.format === 'text' ? 'exact' : 'plain');
    return code;
  } finally {
    await muster.close();
  }
}

/** Checked before anything is paid for. */
function outFile({ out, force }: RunTemplateCommand): NewFile | null {
  if (out === null) return null;
  const file = { path: resolve(out), force, mode: SHARED };
  try {
    checkNewFile(file);
  } catch (thrown) {
    throw new UsageError(`--out ${errorMessage(thrown)}`, { cause: thrown });
  }
  return file;
}

async function openMuster(command: RunTemplateCommand): Promise<Muster> {
  return createMuster({
    cwd: resolve(command.cwd ?? '.'),
    addDirs: command.addDirs.map((path) => resolve(path)),
    ...(command.dataDir === null ? {} : { dataDir: resolve(command.dataDir) }),
    log: command.log,
    trustProject: command.trustProject,
    flags: command.flags,
    agents: command.agents === null ? [] : await sessionAgents(command.agents),
    onNotice: stderrNotice,
  });
}

async function start(
  muster: Muster,
  action: Start,
  { onEvent, signal }: { readonly onEvent: EventListener; readonly signal: AbortSignal },
): Promise<Run> {
  const { itemSource, parseItems, readItems } = await import('../../../../api/templates/items.ts');
  const source = itemSource(action.items, resolve(action.items));
  const { cwd } = muster;
  const items =
    source.kind === 'stdin'
      ? parseItems(await readAll(signal), 'stdin')
      : await readItems(source, cwd, { signal });
  tellUnfinished(muster, action.template);
  tellOffline(muster);
  return muster.startTemplate(
    {
      template: action.template,
      items,
      source,
      ...(action.agent === null ? {} : { agent: action.agent }),
      ...(action.maxTurns === null ? {} : { maxTurns: action.maxTurns }),
    },
    onEvent,
  );
}

/** The same command again is a new run: whoever meant the old one is to know how to go on with it. */
function tellUnfinished(muster: Muster, template: string): void {
  const newest = muster.newestTemplateRun();
  if (newest === null) return;
  const { id, agent: before, status } = newest;
  const wasLeft = status === 'interrupted' || status === 'stopped' || status === 'killed';
  if (!wasLeft || before.toLowerCase() !== template.toLowerCase()) return;
  stderrNotice(
    `the run ${id} of ${before} was not finished, and this is a new one; to go on with that: muster run --continue ${id}`,
  );
}

async function goOn(muster: Muster, action: Continue, onEvent: EventListener): Promise<Run> {
  const word = action.id ?? muster.newestTemplateRun()?.id ?? null;
  if (word === null) {
    throw new UsageError('no run of a template of this directory is in the logs');
  }
  const { id, failed, changed } = await muster.templateRunLeft(word);
  if (changed !== null) stderrNotice(changed);
  if (failed > 0 && !action.retryFailed) {
    stderrNotice(
      `${plural(failed, 'item')} failed or ended at a limit; --retry-failed does that again`,
    );
  }
  return muster.resume({ id, retryFailed: action.retryFailed }, onEvent);
}
