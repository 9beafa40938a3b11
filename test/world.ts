/**
 * The tests that `npm run test:world -- PART` runs and `npm test` leaves out, which has to end within ten
 * minutes. Of each kind `npm test` keeps some.
 */
export const WORLD: Readonly<Record<string, readonly string[]>> = {
  /** kill -9 at many moments and at each write of a log, and disks that become full. */
  crash: [
    'test/crash/{kill,kill-and-resume,every-write,every-write-resumed,full-disk,unwritable}.test.ts',
    'test/engine/crash-resume.test.ts',
    'test/store/{kill-writer,log/large-log}.test.ts',
    'test/engine/reuse/reuse-random.test.ts',
    'test/engine/rewind/{killed-rewind,rewind-random}.test.ts',
    'test/e2e/tasks-move.test.ts',
  ],
  /** Every fault of a model server over the protocols other than Chat, and the time limit of a run. */
  faults: ['test/faults/{anthropic,google,responses}.test.ts', 'test/e2e/time-limit.test.ts'],
  /** Model servers with the built program: faults over Chat, limits, fallbacks, logins, keys, families and pictures. */
  providers: [
    'test/faults/{bounds,chat,liveness}.test.ts',
    'test/model/adapters/http.test.ts',
    'test/model/adapters/answers/garbled-streams.test.ts',
    'test/model/adapters/request/histories.test.ts',
    'test/e2e/{call-as-text,clouds,doctor-provider,fallback,images,key-servers}.test.ts',
    'test/e2e/{first-run,login,login-terminal,model-families,models,provider-changes}.test.ts',
    'test/e2e/{providers,rate-limits,structured-results}.test.ts',
  ],
  /** What definitions, skills, templates and context files do in the built program, and whether they are trusted. */
  definitions: [
    'test/e2e/{agent-fields,agent-grants,agents-explain,choosing-agents}.test.ts',
    'test/e2e/{completion-offers,context-files,mcp-definitions,memory}.test.ts',
    'test/e2e/{hook-commands,hooks,named-files,plugins,schema,skills,slash-commands}.test.ts',
    'test/e2e/{no-home,sources,templates,trust,unknown-rules}.test.ts',
    'test/agents/{mutated,commands/expand}.test.ts',
  ],
  /** Tasks of the built program: budgets, questions, summaries, damaged logs, replay, and commands that show tasks. */
  tasks: [
    'test/e2e/{background-shells,board,board-hostile,budgets,compaction,damaged-logs,damaged-logs-random}.test.ts',
    'test/e2e/{forked-context,lost-output,overflow,stream-input}.test.ts',
    'test/e2e/{privacy,questions,replay,reuse,rewind,secrets}.test.ts',
    'test/e2e/{big-files,files,tasks-commands,tasks-dead,tasks-running,tasks-show}.test.ts',
    'test/e2e/{telemetry-runs,terminal,transferred-summary,tui,usage}.test.ts',
    'test/replay/rerun-random.test.ts',
    'test/telemetry/random-trees.test.ts',
    'test/api/tasks/ledger.test.ts',
  ],
  /** Shell commands that are judged, compared with real shells, confined and watched, and searches with odd input. */
  shell: [
    'test/hostile/shell.test.ts',
    'test/policy/shell/read-only/{differential,real-run}.test.ts',
    'test/engine/permissions/command-proof.test.ts',
    'test/tools/bash/{remaining-processes,unattended-programs}.test.ts',
    'test/tools/memory/two-writers.test.ts',
    'test/tools/search/odd-inputs.test.ts',
    'test/store/files/descriptor-cache.test.ts',
    'test/sys/files/changes/workspace-changes.test.ts',
    'test/tools/search/search-scope.test.ts',
    'test/sys/sandbox/{git-alone,killed-owner}.test.ts',
    'test/sys/sandbox/cleanup/new-entries.test.ts',
    'test/e2e/{process-limit,sandbox}.test.ts',
  ],
  /** Everyday commands with and without the sandbox, of toolchains that are installed for it. */
  everyday: ['test/everyday/everyday.test.ts'],
  /**
   * The packed package on machines that have nothing but Node, complete builds in other directories, and completion in
   * real shells.
   */
  install: [
    'test/install/{build,install}.test.ts',
    'test/package/{library-users,package}.test.ts',
    'test/e2e/completion.test.ts',
    'test/scripts/bundled-packages.test.ts',
  ],
  /** Attempts to pass the check of a task's work without doing the work. */
  accept: [
    'test/accept/*.test.ts',
    'test/e2e/acceptance.test.ts',
    'test/engine/acceptance/ladder.test.ts',
  ],
  /** Language servers from npm and of the system, formatters and checkers. */
  code: ['test/languages/world/*.test.ts', 'test/languages/language-servers.test.ts'],
  /** Servers of the Model Context Protocol from npm, which needs the network, and servers that hang, flood and ask. */
  mcp: [
    'test/mcp/world/*.test.ts',
    'test/mcp/{connections,faults,tasks}.test.ts',
    'test/e2e/{mcp,mcp-content,mcp-login,mcp-serve,mcp-serve-faults,mcp-serve-http}.test.ts',
    'test/e2e/{mcp-tasks,server-questions}.test.ts',
  ],
  /** Clients of the Agent Client Protocol, from the SDK and from npm, which needs the network. */
  acp: ['test/acp/world/*.test.ts', 'test/e2e/{acp,acp-faults}.test.ts'],
  /** Remote agents: adapters of other products from npm, which needs the network, and a scripted agent in the sandbox. */
  remote: [
    'test/remote/world/*.test.ts',
    'test/remote/acp/port.test.ts',
    'test/e2e/remote-{a2a,agents}.test.ts',
  ],
  /** The attacks that play through the engine, the built program and the sandbox, large pages, and keys in a real keychain. */
  hostile: [
    'test/hostile/{hostile,effects,program,pages,keychain,sandbox,clouds}.test.ts',
    'test/sys/sandbox/{escapes,git-escapes}.test.ts',
    'test/e2e/hostile-results.test.ts',
    'test/engine/process/{confined,faults}.test.ts',
  ],
  /** The runner of evaluations against the scripted model, all of its tasks, and the agents for other benchmarks. */
  eval: ['test/eval/world/*.test.ts'],
  /** Many random commands of subagents that work at the same time, with and without the sandbox. */
  receipts: ['test/receipts/random-commands.test.ts', 'test/e2e/receipts.test.ts'],
  /** Worktrees and processes of tasks in the built program, and unusual repositories. */
  isolation: [
    'test/workspaces/{hostile-task,ignored-files,unusual-repositories}.test.ts',
    'test/workspaces/landing/commit.test.ts',
    'test/api/workspaces/{apply-again,prune-workspaces,stored-workspaces,undo-commit}.test.ts',
    'test/e2e/{best-of-n,main-worktree,mcp-workspaces}.test.ts',
    'test/e2e/{process-isolation,worktree-views,worktrees}.test.ts',
  ],
  /** Landings, and creations and removals of workspaces, with kill -9 before each change of the disk. */
  kills: ['test/workspaces/world/{kill,killed,killed-removal,killed-apply,not-yet-begun}.test.ts'],
  /** Merges compared with git, many workspaces at the same time, children that land through the engine, and attempts. */
  workspaces: ['test/workspaces/world/{best-of-n,like-git,many,sixteen-children}.test.ts'],
  /**
   * The page of `muster web`, in a browser and as its server sends it: hostile text, accessibility, keys, interruptions, answers
   * from everywhere, and very many tasks. Pages that tasks export, and the conversion of pages of the web.
   */
  web: [
    'test/e2e/web-page.test.ts',
    'test/front/web/serve-web.test.ts',
    'test/front/html/chromium.test.ts',
    'test/web/world/*.test.ts',
    'test/web/{client-limits,convert/convert-page}.test.ts',
  ],
  /** Every point of the terminal UI, on the built program in tmux. */
  terminal: [
    'test/terminal/*.test.ts',
    'test/e2e/tui-*.test.ts',
    'test/front/tui/{editor,mcp,screens}.test.ts',
  ],
};
