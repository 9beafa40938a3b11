/** Loads the agents of the working directory at argv[2], all trusted. Prints what it took in ms. */
import { AGENTS } from '../../src/agents/kinds.ts';
import { discoverDefinitions } from '../../src/agents/loader/discover.ts';
import { TRUST_ALL } from '../../src/sys/files/project-file.ts';
import { readEnvironment } from '../../src/sys/env.ts';

const [cwd = ''] = process.argv.slice(2);
const startedAt = performance.now();
const environment = readEnvironment();
const { items: agents } = await discoverDefinitions(AGENTS, { cwd, environment, trust: TRUST_ALL });
const loadMs = performance.now() - startedAt;
const loaded = agents.filter(({ origin }) => origin.scope === 'project').length;
console.log(JSON.stringify({ agents: loaded, loadMs }));
