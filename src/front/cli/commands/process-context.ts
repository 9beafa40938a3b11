import { homedir } from 'node:os';
import { configuredModels } from '../../../api/config/models-report.ts';
import { listAgentsIn } from '../../../api/index.ts';
import { readEnvironment } from '../../../sys/env.ts';
import type { DoctorContext } from './doctor/doctor.ts';

/** What a command works with when it runs as this process. */
export function processContext(): DoctorContext {
  const environment = readEnvironment();
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    environment,
    home: environment['HOME'] || homedir(),
    cwd: process.cwd(),
    models: (loaded) => configuredModels(loaded, environment),
    nodeVersion: process.versions.node,
    platform: process.platform,
    uid: process.getuid?.(),
    ripgrep: async () => (await import('@vscode/ripgrep')).rgPath,
    agents: async (place) => {
      const { agents, problems } = await listAgentsIn({ ...place, environment });
      return { loaded: agents.filter(({ shadowedBy }) => shadowedBy === null).length, problems };
    },
  };
}
