// Written by `npm run docs:api` from the table of keys. Change that.

/** The sections and keys of `config.toml` (docs/configuration.md). */
export interface ConfigTables {
  /** The section `[task_tool]`. */
  readonly task_tool?: {
    /** The setting `task_tool.enabled`: offer the Task tools to the model. Default: true. */
    readonly enabled?: boolean;
    /**
     * The setting `task_tool.max_depth`: how deep tasks may nest; the main agent is at 0. Values: a whole number
     * from 0 to 32. Default: 2.
     */
    readonly max_depth?: number;
    /** The setting `task_tool.nested`: give Task to agents whose definition does not list it. Default: false. */
    readonly nested?: boolean;
    /**
     * The setting `task_tool.default_timeout_seconds`: how long a call waits for a task in the foreground before it
     * continues in the background. Values: a number from 0.01 to 604800. Default: 300.
     */
    readonly default_timeout_seconds?: number;
    /**
     * The setting `task_tool.task_wall_seconds`: wall time of one delegated task. Values: a number from 0.01 to
     * 604800. Default: 1800.
     */
    readonly task_wall_seconds?: number;
    /**
     * The setting `task_tool.max_tokens`: paid tokens of one delegated task. Values: a whole number from 1 to
     * 1000000000. Default: 1000000.
     */
    readonly max_tokens?: number;
    /**
     * The setting `task_tool.max_cost_usd`: cost of one delegated task in USD; 0: no limit. Values: a number from 0
     * to 1000000. Default: 0.
     */
    readonly max_cost_usd?: number;
    /**
     * The setting `task_tool.max_tool_bytes`: bytes of all tool results of one delegated task; 0: no limit. Values:
     * a whole number from 0 to 1099511627776. Default: 0.
     */
    readonly max_tool_bytes?: number;
    /**
     * The setting `task_tool.max_turns`: turns of one delegated task, at most. Values: a whole number from 1 to
     * 100000. Default: by definition.
     */
    readonly max_turns?: number;
    /**
     * The setting `task_tool.result_max_tokens`: tokens of a task's answer that reach its parent's model. Values: a
     * whole number from 1 to 1000000. Default: 2000.
     */
    readonly result_max_tokens?: number;
    /**
     * The setting `task_tool.max_parallel`: tasks of one tree at work at a time; the rest queue. Values: a whole
     * number from 1 to 100000. Default: 16.
     */
    readonly max_parallel?: number;
    /**
     * The setting `task_tool.max_tasks`: delegated tasks of one tree. Values: a whole number from 1 to 1000000.
     * Default: 500.
     */
    readonly max_tasks?: number;
    /** The setting `task_tool.enable_verbose_logging`: log the subagents' actions in full. Default: false. */
    readonly enable_verbose_logging?: boolean;
    /**
     * The setting `task_tool.allow_model_override`: let a Task call name another model than the definition's.
     * Default: true.
     */
    readonly allow_model_override?: boolean;
    /**
     * The setting `task_tool.cache`: reuse the result of an identical earlier task while all that it read is the
     * same. Default: false.
     */
    readonly cache?: boolean;
  };
  /** The section `[budget]`. */
  readonly budget?: {
    /**
     * The setting `budget.tree_tokens`: paid tokens of the whole tree; 0: no limit. Values: a whole number from 0 to
     * 1000000000000. Default: 0.
     */
    readonly tree_tokens?: number;
    /**
     * The setting `budget.tree_cost_usd`: cost of the whole tree in USD; 0: no limit. Values: a number from 0 to
     * 1000000. Default: 0.
     */
    readonly tree_cost_usd?: number;
    /**
     * The setting `budget.tree_turns`: turns of the whole tree; 0: no limit. Values: a whole number from 0 to
     * 100000000. Default: 0.
     */
    readonly tree_turns?: number;
    /**
     * The setting `budget.tree_wall_seconds`: wall time of the whole tree; 0: no limit. Values: a number from 0 to
     * 604800. Default: 0.
     */
    readonly tree_wall_seconds?: number;
    /**
     * The setting `budget.tree_tool_bytes`: bytes of all tool results of the whole tree; 0: no limit. Values: a
     * whole number from 0 to 1099511627776. Default: 0.
     */
    readonly tree_tool_bytes?: number;
    /**
     * The setting `budget.max_processes`: shell commands of one tree at a time; the rest queue. Values: a whole
     * number from 1 to 100000. Default: 64.
     */
    readonly max_processes?: number;
  };
  /** The section `[liveness]`. */
  readonly liveness?: {
    /**
     * The setting `liveness.connect_seconds`: to reach a provider. Values: a number from 0.01 to 604800. Default:
     * 20.
     */
    readonly connect_seconds?: number;
    /**
     * The setting `liveness.first_token_seconds`: to the first token of an answer. Values: a number from 0.01 to
     * 604800. Default: 120, or 600 for a private address.
     */
    readonly first_token_seconds?: number;
    /**
     * The setting `liveness.stream_idle_seconds`: silence between events of a stream. Values: a number from 0.01 to
     * 604800. Default: 120.
     */
    readonly stream_idle_seconds?: number;
    /**
     * The setting `liveness.silent_retries`: further tries of a request that a server took and left without an
     * answer. Values: a whole number from 0 to 100. Default: 1.
     */
    readonly silent_retries?: number;
    /** The setting `liveness.tool_seconds`: one tool call. Values: a number from 0.01 to 604800. Default: 600. */
    readonly tool_seconds?: number;
    /**
     * The setting `liveness.no_progress_calls`: how often the same calls may give the same results before the task
     * is ended. Values: a whole number from 2 to 10000. Default: 8.
     */
    readonly no_progress_calls?: number;
  };
  /** The section `[output]`. */
  readonly output?: {
    /**
     * The setting `output.tool_result_bytes`: bytes of one tool result; the rest is kept in a file. Values: a whole
     * number from 256 to 1073741824. Default: 30000.
     */
    readonly tool_result_bytes?: number;
    /**
     * The setting `output.read_bytes`: bytes of one Read result. Values: a whole number from 256 to 1073741824.
     * Default: 262144.
     */
    readonly read_bytes?: number;
    /**
     * The setting `output.server_tools_bytes`: bytes of tools of MCP servers in a request; with more, the model
     * searches for them. Values: a whole number from 0 to 1073741824. Default: 35000.
     */
    readonly server_tools_bytes?: number;
    /**
     * The setting `output.spill_bytes`: bytes of a command's output kept in a file before the command is stopped.
     * Values: a whole number from 0 to 1099511627776. Default: 52428800.
     */
    readonly spill_bytes?: number;
  };
  /** The section `[models]`. */
  readonly models?: {
    /**
     * The setting `models.default`: the model of the main agent. Values: a model id, "provider/model" or a tier.
     * Default: by what is configured.
     */
    readonly default?: string;
    /**
     * The setting `models.fast`: the fast tier. Values: a model id, "provider/model" or a tier. Default: by
     * provider.
     */
    readonly fast?: string;
    /**
     * The setting `models.balanced`: the balanced tier. Values: a model id, "provider/model" or a tier. Default: by
     * provider.
     */
    readonly balanced?: string;
    /**
     * The setting `models.powerful`: the powerful tier. Values: a model id, "provider/model" or a tier. Default: by
     * provider.
     */
    readonly powerful?: string;
    /**
     * The setting `models.fallback`: models tried in turn where the chosen one fails. Values: a list of models.
     * Default: none.
     */
    readonly fallback?: readonly string[];
    /**
     * The setting `models.fallback_fast`: the same for the fast tier, before those of `fallback`. Values: a list of
     * models. Default: none.
     */
    readonly fallback_fast?: readonly string[];
    /**
     * The setting `models.fallback_balanced`: the same for the balanced tier, before those of `fallback`. Values: a
     * list of models. Default: none.
     */
    readonly fallback_balanced?: readonly string[];
    /**
     * The setting `models.fallback_powerful`: the same for the powerful tier, before those of `fallback`. Values: a
     * list of models. Default: none.
     */
    readonly fallback_powerful?: readonly string[];
    /**
     * The setting `models.family`: the form in which tools are described; "auto": the form that the model was
     * trained with. Values: auto, muster, openai, gemini, qwen, kimi. Default: "auto".
     */
    readonly family?: 'auto' | 'muster' | 'openai' | 'gemini' | 'qwen' | 'kimi';
  };
  /** The section `[provider]`. */
  readonly provider?: {
    /**
     * The setting `provider.retries`: further tries of one request. Values: a whole number from 0 to 100. Default:
     * 6.
     */
    readonly retries?: number;
    /**
     * The setting `provider.max_wait_seconds`: how long a request waits for rate limits and for the times that its
     * server states (`Retry-After`); 0: however long it takes. Values: a number from 0 to 31536000. Default: 300, or
     * 0 in the terminal UI.
     */
    readonly max_wait_seconds?: number;
    /**
     * The setting `provider.max_concurrent`: requests in flight per provider and key. Values: a whole number from 1
     * to 10000. Default: 64.
     */
    readonly max_concurrent?: number;
    /**
     * The setting `provider.cache_hold_ms`: how long siblings wait for the first of them to write the prompt cache;
     * 0: never. Values: a whole number from 0 to 60000. Default: 2000.
     */
    readonly cache_hold_ms?: number;
    /**
     * The setting `provider.requests_per_minute`: per provider and key; 0: no limit. Values: a whole number from 0
     * to 1000000. Default: 0.
     */
    readonly requests_per_minute?: number;
  };
  /** The section `[permissions]`. */
  readonly permissions?: {
    /**
     * The setting `permissions.mode`: what runs without a rule. Values: plan, default, acceptEdits, autonomous.
     * Default: "default".
     */
    readonly mode?: 'plan' | 'default' | 'acceptEdits' | 'autonomous';
    /**
     * The setting `permissions.allow`: calls that run without a question. Values: a list of rules like "Bash(npm
     * test:*)". Default: none.
     */
    readonly allow?: readonly string[];
    /**
     * The setting `permissions.ask`: calls that need your approval. Values: a list of rules like "Bash(npm test:*)".
     * Default: none.
     */
    readonly ask?: readonly string[];
    /**
     * The setting `permissions.deny`: calls that never run. Values: a list of rules like "Bash(npm test:*)".
     * Default: none.
     */
    readonly deny?: readonly string[];
    /**
     * The setting `permissions.agent_modes`: modes that agents may have if their definition asks for more than the
     * mode of their parent. Values: a list of NAME=MODE, as in "coder=acceptEdits", with one of the modes default,
     * acceptEdits, autonomous. Default: none.
     */
    readonly agent_modes?: readonly string[];
    /**
     * The setting `permissions.on_ask`: what a headless run does with a question. Values: deny, park. Default:
     * "deny".
     */
    readonly on_ask?: 'deny' | 'park';
  };
  /** The section `[sandbox]`. */
  readonly sandbox?: {
    /**
     * The setting `sandbox.kind`: what confines shell commands; "auto": what this system has; "container": the
     * machine itself. Values: auto, bwrap, seatbelt, container, off. Default: "auto".
     */
    readonly kind?: 'auto' | 'bwrap' | 'seatbelt' | 'container' | 'off';
    /** The setting `sandbox.network`: network for shell commands in the sandbox. Default: false. */
    readonly network?: boolean;
    /**
     * The setting `sandbox.caches`: caches of package managers for shell commands: "private" (separate ones) or
     * "shared" (yours, through which a command can change what you run). Values: private, shared. Default:
     * "private".
     */
    readonly caches?: 'private' | 'shared';
    /**
     * The setting `sandbox.env`: further environment variables that shell commands see. Values: a list of variable
     * names, none of which tells programs what to run (BASH_ENV, GIT_*, LD_PRELOAD, RIPGREP_CONFIG_PATH, …).
     * Default: none.
     */
    readonly env?: readonly string[];
    /**
     * The setting `sandbox.command_processes`: processes and threads of one command at a time; a command with more
     * is ended; 0: no limit. Values: a whole number from 0 to 1000000. Default: 2048.
     */
    readonly command_processes?: number;
  };
  /** The section `[code]`. */
  readonly code?: {
    /**
     * The setting `code.feedback`: report the problems that an edit causes, as language servers and `check` find
     * them. Default: true.
     */
    readonly feedback?: boolean;
    /**
     * The setting `code.format`: format the files that an edit has written, as the settings of the project say.
     * Default: true.
     */
    readonly format?: boolean;
    /**
     * The setting `code.check`: commands that check the project after edits of files without a language server.
     * Values: a list of command lines like "npx tsc --noEmit". Default: none.
     */
    readonly check?: readonly string[];
    /**
     * The setting `code.servers`: language servers to use instead of those that Muster finds. Values: a list of
     * LANGUAGE=COMMAND or .ENDING=COMMAND, as in "python=pylsp". Default: none.
     */
    readonly servers?: readonly string[];
    /**
     * The setting `code.check_seconds`: to check the changes of one call. Values: a number from 0.01 to 604800.
     * Default: 3.
     */
    readonly check_seconds?: number;
    /**
     * The setting `code.start_seconds`: to check the first changes, for which a server has to start. Values: a
     * number from 0.01 to 604800. Default: 20.
     */
    readonly start_seconds?: number;
    /**
     * The setting `code.command_seconds`: for one run of a command of `check`. Values: a number from 0.01 to 604800.
     * Default: 30.
     */
    readonly command_seconds?: number;
    /** The setting `code.format_seconds`: to format one file. Values: a number from 0.01 to 604800. Default: 10. */
    readonly format_seconds?: number;
    /**
     * The setting `code.project_programs`: use programs that the project contains, such as those in
     * node_modules/.bin. Default: false.
     */
    readonly project_programs?: boolean;
  };
  /** The section `[workspaces]`. */
  readonly workspaces?: {
    /**
     * The setting `workspaces.uncommitted`: begin a worktree with the changes that are not committed, as in the
     * directory of the parent. Default: true.
     */
    readonly uncommitted?: boolean;
    /**
     * The setting `workspaces.packages`: what a workspace gets of the directories of installed packages: links
     * (read-only in the sandbox; none if setup is set) or copies. Values: link, copy, none. Default: "link".
     */
    readonly packages?: 'link' | 'copy' | 'none';
    /**
     * The setting `workspaces.package_directories`: directories of installed packages, at any depth, if git ignores
     * them. Values: a list of names of directories, as in "node_modules". Default: ["node_modules"].
     */
    readonly package_directories?: readonly string[];
    /**
     * The setting `workspaces.setup`: what prepares a new workspace, such as "npm ci"; package directories are then
     * not linked. Values: a command line. Default: nothing.
     */
    readonly setup?: string;
    /**
     * The setting `workspaces.max_copy_bytes`: the size of a directory without a repository that is copied where
     * blocks cannot be shared. Values: a whole number from 0 to 1000000000000. Default: 524288000.
     */
    readonly max_copy_bytes?: number;
    /**
     * The setting `workspaces.max_copy_files`: the number of its files. Values: a whole number from 0 to 100000000.
     * Default: 50000.
     */
    readonly max_copy_files?: number;
  };
  /** The section `[process]`. */
  readonly process?: {
    /**
     * The setting `process.heap_mb`: the heap of the process of a task, in MB. Values: a whole number from 32 to
     * 65536. Default: 512.
     */
    readonly heap_mb?: number;
    /**
     * The setting `process.memory_mb`: the memory of the process of a task and of its commands together, in MB.
     * Values: a whole number from 64 to 1048576. Default: 4096.
     */
    readonly memory_mb?: number;
    /**
     * The setting `process.cpu_seconds`: the processor time of the process of a task, and of each process of its
     * commands. Values: a whole number from 1 to 604800. Default: 1800.
     */
    readonly cpu_seconds?: number;
  };
  /** The section `[web]`. */
  readonly web?: {
    /**
     * The setting `web.search`: who answers WebSearch; "auto": the first service with a key, otherwise the provider
     * of the model if it can search. Values: auto, off, provider, brave, tavily, exa, serper, searxng. Default:
     * "auto".
     */
    readonly search?:
      | 'auto'
      | 'off'
      | 'provider'
      | 'brave'
      | 'tavily'
      | 'exa'
      | 'serper'
      | 'searxng';
    /**
     * The setting `web.searxng_url`: the instance for `search = "searxng"`. Values: the address of a SearXNG
     * instance. Default: SEARXNG_URL.
     */
    readonly searxng_url?: string;
  };
  /** The section `[remote]`. */
  readonly remote?: {
    /**
     * The setting `remote.a2a_origins`: servers that the A2A agent cards of other servers may name. Values: a list
     * of origins like "https://agents.example". Default: none.
     */
    readonly a2a_origins?: readonly string[];
  };
  /** The section `[terminal]`. */
  readonly terminal?: {
    /**
     * The setting `terminal.notify`: how the terminal UI calls you when a task asks, a long turn has ended, or a
     * background task has ended. Values: bell, desktop, notify, off. Default: "bell".
     */
    readonly notify?: 'bell' | 'desktop' | 'notify' | 'off';
    /**
     * The setting `terminal.title`: whether the title of the window shows the state of the conversation. Default:
     * true.
     */
    readonly title?: boolean;
    /**
     * The setting `terminal.hints`: whether keys are shown in the status line until you have used them five times.
     * Default: true.
     */
    readonly hints?: boolean;
    /**
     * The setting `terminal.theme`: the colors of the terminal UI; "auto": by the background of the terminal.
     * Values: auto, dark, light. Default: "auto".
     */
    readonly theme?: 'auto' | 'dark' | 'light';
    /**
     * The setting `terminal.detail`: what the terminal UI shows of the work: "full" (changes, command output, plans)
     * or "short" (one line for each call). Values: full, short. Default: "full".
     */
    readonly detail?: 'full' | 'short';
    /**
     * The setting `terminal.thinking`: how much of the models' thinking the terminal UI shows; /thinking changes it
     * for now. Values: short, full, hidden. Default: "short".
     */
    readonly thinking?: 'short' | 'full' | 'hidden';
  };
  /** The section `[otel]`. */
  readonly otel?: {
    /**
     * The setting `otel.endpoint`: the receiver of traces and metrics. Values: an address like
     * http://localhost:4318. Default: OTEL_EXPORTER_OTLP_ENDPOINT.
     */
    readonly endpoint?: string;
    /**
     * The setting `otel.headers_env`: the variable with the headers of exports, as NAME=VALUE,NAME=VALUE. Values:
     * the name of an environment variable. Default: OTEL_EXPORTER_OTLP_HEADERS.
     */
    readonly headers_env?: string;
    /**
     * The setting `otel.content`: whether spans contain prompts, answers, and the arguments and results of calls.
     * Default: false.
     */
    readonly content?: boolean;
  };
  /** The section `[log]`. */
  readonly log?: {
    /**
     * The setting `log.file`: the file to which Muster writes a line for each thing that it notices. Values: a path.
     * Default: none; with --debug, muster.log in the data directory.
     */
    readonly file?: string;
    /**
     * The setting `log.level`: the least important lines that are written to `file`. Values: error, warning, info,
     * debug. Default: "info".
     */
    readonly level?: 'error' | 'warning' | 'info' | 'debug';
  };
  /** The section `[store]`. */
  readonly store?: {
    /**
     * The setting `store.retention_days`: how long ended tasks are kept; 0: for ever. Values: a whole number from 0
     * to 36500. Default: 30.
     */
    readonly retention_days?: number;
    /**
     * The setting `store.durability`: "safe" syncs the log to disk before Muster reports something as saved; "fast"
     * leaves that to the system. Values: safe, fast. Default: "safe".
     */
    readonly durability?: 'safe' | 'fast';
  };
}
