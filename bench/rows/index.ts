import type { Row } from '../harness/row.ts';
import { agents } from './agents.ts';
import { cache } from './cache.ts';
import { commandChanges } from './command-changes.ts';
import { decision } from './decision.ts';
import { delegation, firstDelegation } from './delegation.ts';
import { eventLog } from './event-log.ts';
import { fanOut } from './fan-out.ts';
import { library } from './library.ts';
import { limits } from './limits.ts';
import { listing } from './listing.ts';
import { liveness } from './liveness.ts';
import { mainContext } from './main-context.ts';
import { memory } from './memory.ts';
import { offline, offlineLarge } from './offline.ts';
import { prefix } from './prefix.ts';
import { processIsolation } from './process-isolation.ts';
import { requestSize } from './request-size.ts';
import { sandbox } from './sandbox.ts';
import { serverTools } from './server-tools.ts';
import { start, startInRepository, version } from './start.ts';
import { stop } from './stop.ts';
import { terminal } from './terminal.ts';
import { terminalStream } from './terminal-stream.ts';
import { editingChildren, warmChildren } from './warm-children.ts';
import { largeOutput } from './large-output.ts';
import { longSession, resume } from './long-session.ts';
import { thousand } from './thousand.ts';
import { workingChildren } from './working-children.ts';
import { tracing } from './tracing.ts';
import { worktree, worktreeLarge } from './worktree.ts';

/** All rows, in the order in which the table shows them. */
export const ROWS: readonly Row[] = [
  version,
  start,
  startInRepository,
  terminal,
  terminalStream,
  delegation,
  firstDelegation,
  workingChildren,
  warmChildren,
  editingChildren,
  longSession,
  resume,
  largeOutput,
  fanOut,
  thousand,
  library,
  requestSize,
  serverTools,
  prefix,
  cache,
  mainContext,
  eventLog,
  tracing,
  limits,
  listing,
  agents,
  decision,
  stop,
  liveness,
  sandbox,
  processIsolation,
  commandChanges,
  worktree,
  worktreeLarge,
  memory,
  offline,
  offlineLarge,
];
