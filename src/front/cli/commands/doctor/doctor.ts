import { resolve } from 'node:path';
import { readConfig, type ConfigReading } from '../../../../config/load.ts';
import { dataDir } from '../../../../config/paths.ts';
import type { RepairsByModel } from '../../../../report/repairs.ts';
import { MusterError } from '../../../../base/errors.ts';
import { jsonText } from '../../../../base/json-text.ts';
import { terminalText } from '../../../../base/terminal-text.ts';
import type { Sandbox } from '../../../../sys/sandbox/sandbox.ts';
import type { ConfigFlags, DataFlags } from '../../command.ts';
import { columns } from '../columns.ts';
import { configInputs, type ModelContext } from '../context.ts';
import { agentChecks, type AgentsReport } from './agents-check.ts';
import { answersChecks } from './answers-check.ts';
import { fail, warn, type Check } from './check.ts';
import { configChecks } from './config-checks.ts';
import { dataDirCheck } from './data-dir-check.ts';
import { modelChecks } from './model-checks.ts';
import { trustChecks } from './trust-check.ts';
import { gitCheck, nodeCheck, ripgrepCheck, sandboxCheck } from './program-checks.ts';
import type { SandboxPlace } from '../../../../api/setup/sandbox.ts';

export interface DoctorContext extends ModelContext {
  /** `process.versions.node`. */
  readonly nodeVersion: string;
  /** Of this process; undefined where there is none. */
  readonly uid: number | undefined;
  /** The path of the ripgrep that Grep runs; rejects where there is none. */
  readonly ripgrep: () => Promise<string>;
  readonly agents: (place: AgentsPlace) => Promise<AgentsReport>;
  /** Repairs in the answers of the newest tasks. */
  readonly repairs: (dataDir: string) => Promise<RepairsByModel>;
  /** It may leave nothing behind. */
  readonly sandbox: (place: Omit<SandboxPlace, 'keepsRecords'>) => Pick<Sandbox, 'state'>;
}

interface AgentsPlace {
  /** Absolute. */
  readonly cwd: string;
  readonly trustProject: boolean;
  /** Absolute. */
  readonly dataDir: string;
}

/** `muster doctor`: every check, whatever the others say; exit code 1 when one fails. */
export async function runDoctor(
  command: ConfigFlags & DataFlags & { readonly json: boolean },
  context: DoctorContext,
): Promise<number> {
  const checks = await allChecks(command, context);
  const healthy = checks.every((check) => check.status !== 'fail');
  context.out(command.json ? `${jsonText({ ok: healthy, checks }, 2)}\n` : asText(checks));
  return healthy ? 0 : 1;
}

async function allChecks(
  command: ConfigFlags & DataFlags,
  context: DoctorContext,
): Promise<readonly Check[]> {
  const reading = await readConfig(configInputs(command, context));
  const cwd = resolve(context.cwd, command.cwd ?? '.');
  const data = dataDir(context, {
    cwd: context.cwd,
    ...(command.dataDir === null ? {} : { dataDir: command.dataDir }),
  });
  const place = { cwd, trustProject: command.trustProject, dataDir: data };
  const agents = await loadedAgents(place, context);
  const { kind, caches } = reading.config.sandbox;
  const sandbox = context.sandbox({ ...context, kind, caches, roots: [cwd], dataDir: data });
  return [
    nodeCheck(context.nodeVersion),
    ...configChecks(reading),
    dataDirCheck(data, context.uid),
    ...(await configuredModels(reading, context)),
    ...(await recentAnswers(data, context)),
    ...agents.checks,
    ...trustChecks({ files: reading.files, skipped: agents.skipped }),
    await ripgrepCheck(context.ripgrep),
    gitCheck(context.environment),
    sandboxCheck(await sandbox.state()),
  ];
}

async function configuredModels(
  reading: ConfigReading,
  context: DoctorContext,
): Promise<readonly Check[]> {
  try {
    return modelChecks(await context.models(reading));
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return [fail('model', terminalText(error.message, 'exact'), null)];
  }
}

/** A data directory that cannot be read has a check of its own. */
async function recentAnswers(data: string, context: DoctorContext): Promise<readonly Check[]> {
  try {
    return answersChecks(await context.repairs(data));
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return [warn('answers', terminalText(error.message, 'exact'), null)];
  }
}

interface AgentsLooked {
  readonly checks: readonly Check[];
  readonly skipped: AgentsReport['skipped'];
}

async function loadedAgents(place: AgentsPlace, context: DoctorContext): Promise<AgentsLooked> {
  try {
    const report = await context.agents(place);
    return { checks: agentChecks(report), skipped: report.skipped };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    // The configuration decides about agents too; what is wrong in it was told above.
    const check = warn('agents', 'not looked at, because the configuration is wrong', null);
    return { checks: [check], skipped: [] };
  }
}

function asText(checks: readonly Check[]): string {
  return columns(
    checks.map(({ status, name, detail, fix }) => [
      status,
      name,
      fix === null ? detail : `${detail} → ${fix}`,
    ]),
  );
}
