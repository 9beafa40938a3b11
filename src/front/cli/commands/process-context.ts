import { homedir } from 'node:os';
import { listAgentsIn } from '../../../api/index.ts';
import { readEnvironment } from '../../../sys/env.ts';
import { printError, printText } from '../../../sys/print.ts';
import { terminalConfirm } from '../confirm.ts';
import { terminalQuestions } from '../questions.ts';
import type { NewAgentContext } from './agents/new.ts';
import type { DoctorContext } from './doctor/doctor.ts';
import type { TrustContext } from './context.ts';
import { configuredModels } from '../../../api/setup/models-report.ts';
import { sandboxOf } from '../../../api/setup/sandbox.ts';

/** What a command works with when it runs as this process. */
export function processContext(): DoctorContext & TrustContext & NewAgentContext {
  const environment = readEnvironment();
  return {
    out: (text) => printText(text),
    err: (text) => printError(text),
    environment,
    home: environment['HOME'] || homedir(),
    cwd: process.cwd(),
    models: (loaded) => configuredModels(loaded, environment),
    nodeVersion: process.versions.node,
    uid: process.getuid?.(),
    confirm: terminalConfirm(),
    questions: terminalQuestions(),
    ripgrep: async () => (await import('@vscode/ripgrep')).rgPath,
    repairs: async (data) =>
      (await import('../../../api/tasks/recent-repairs.ts')).recentRepairs(data, environment),
    sandbox: (place) => sandboxOf({ ...place, keepsRecords: false }),
    agents: async (place) => {
      const { agents, problems, skipped } = await listAgentsIn({ ...place, environment });
      const loaded = agents.filter(({ shadowedBy }) => shadowedBy === null).length;
      return { loaded, problems, skipped };
    },
  };
}
