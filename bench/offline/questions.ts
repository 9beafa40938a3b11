/** A question and the files that answer it. `workspace` is a package under node_modules, or `.`. */
export interface Question {
  readonly workspace: string;
  readonly text: string;
  readonly files: readonly string[];
}

function about(workspace: string, table: string): readonly Question[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [text = '', files = ''] = line.split(' => ');
      return { workspace, text: text.trim(), files: files.trim().split(/\s+/) };
    });
}

/** The questions were written by reading the sources, not by trying the engine. */
export const QUESTIONS: readonly Question[] = [
  ...about(
    'commander',
    `
Where is the "did you mean" suggestion for a mistyped command computed? => lib/suggestSimilar.js
How is the help text wrapped to the terminal width? => lib/help.js
Where are the flags of an option split into short and long? => lib/option.js
What is thrown when an argument has an invalid value? => lib/error.js
Where are variadic arguments recognised? => lib/argument.js
Where are conflicting options checked? => lib/command.js
Where is a subcommand executable searched and spawned? => lib/command.js
`,
  ),
  ...about(
    'undici',
    `
Where is the proxy chosen from HTTP_PROXY and NO_PROXY environment variables? => lib/dispatcher/env-http-proxy-agent.js
How does it follow a redirect and which headers are dropped then? => lib/handler/redirect-handler.js
Where is the Retry-After header parsed? => lib/handler/retry-handler.js
Where are cookies parsed from the Set-Cookie header? => lib/web/cookies/parse.js
Where are frames of a websocket message masked and built? => lib/web/websocket/frame.js
How are responses stored in SQLite for the HTTP cache? => lib/cache/sqlite-cache-store.js
Where is the multipart form data body parsed? => lib/web/fetch/formdata-parser.js
Where does the DNS lookup cache pick an address? => lib/interceptor/dns.js
Where is the server-sent events stream parsed? => lib/web/eventsource/eventsource-stream.js
Which file holds the queue of fixed size circular buffers? => lib/dispatcher/fixed-queue.js
How are connections balanced over several upstreams by weight? => lib/dispatcher/balanced-pool.js
Where is the TLS session cached between connections? => lib/core/connect.js
Where is the integrity metadata of a response verified? => lib/web/subresource-integrity/subresource-integrity.js lib/web/fetch/util.js
Where is the socks proxy handshake done? => lib/core/socks5-client.js lib/dispatcher/socks5-proxy-agent.js
`,
  ),
  ...about(
    'yaml',
    `
Where are long flow scalars folded over lines? => dist/stringify/foldFlowLines.js
Where is a merge key << resolved? => dist/schema/yaml-1.1/merge.js
How are anchors named when aliases are created from objects? => dist/doc/anchors.js
Where are block scalar headers with indentation and chomping parsed? => dist/compose/resolve-block-scalar.js
Where does the lexer decide on the next token? => dist/parse/lexer.js
Where are sexagesimal times and timestamps parsed? => dist/schema/yaml-1.1/timestamp.js
Where is a double quoted escape sequence decoded? => dist/compose/resolve-flow-scalar.js
Where are line and column computed from an offset? => dist/parse/line-counter.js
Where are the %YAML and %TAG directives handled? => dist/doc/directives.js
Where are nodes of the document visited recursively? => dist/visit.js dist/parse/cst-visit.js
`,
  ),
  ...about(
    'execa',
    `
How is a subprocess forcefully killed when it does not exit after SIGTERM? => lib/terminate/kill.js
Where is the shebang or node path option handled? => lib/methods/node.js
Where are the template string arguments parsed? => lib/methods/template.js
Where is maxBuffer enforced? => lib/io/max-buffer.js
Where does it strip the final newline of output? => lib/io/strip-newline.js
How is graceful cancellation sent over IPC? => lib/ipc/graceful.js lib/terminate/graceful.js
Where are verbose logs printed with the duration? => lib/verbose/complete.js
Where is the error message with stdout and stderr created? => lib/return/message.js
Where are output lines split in objects by a transform generator? => lib/transform/split.js
How is one subprocess piped to another? => lib/pipe/setup.js lib/pipe/streaming.js
Where is the cleanup on parent exit done? => lib/terminate/cleanup.js
`,
  ),
  ...about(
    '.',
    `
Where is the alias table for tool names? => src/protocol/tool-aliases.ts
Where is a new task id generated? => src/base/ids.ts
Which file reads the environment variables of the process? => src/sys/env.ts
How is a long answer cut at a paragraph? => src/engine/results/result.ts
Where is the retry delay of a failed model request computed? => src/engine/turn/retry.ts
Where are edits of a file applied to its text? => src/tools/edit/apply-edit.ts src/tools/edit/edit.ts
Where is the state of a task folded from its events? => src/protocol/state/fold.ts
Where are secret files such as .env recognised? => src/sys/files/secret-paths.ts
How are deadlines kept in one heap instead of a timer per task? => src/base/deadlines.ts
Where is the system prompt put together? => src/engine/prompt/prompt.ts
Where are log files locked by their owner? => src/store/locks/owner-locks.ts
Where are broken front matter blocks of agent files parsed? => src/agents/parsing/front-matter.ts src/agents/front-matter/parse.ts
`,
  ),
];
