// An MCP server of 30 tools, as large as those of widespread servers are in the median. Its name is the only argument.
const [, , name = 'server'] = process.argv;
const SUBJECTS = [
  'issue',
  'comment',
  'project',
  'branch',
  'release',
  'user',
  'team',
  'label',
  'file',
  'search',
];
const ACTIONS = [
  [
    'list',
    'Lists the objects of this kind, the newest first, page by page, with their ids, names and states.',
  ],
  [
    'get',
    'Returns one object of this kind with all of its fields, its history and the objects that belong to it.',
  ],
  [
    'update',
    'Changes the given fields of one object of this kind. Fields that are not given keep their values.',
  ],
];
const inputSchema = {
  type: 'object',
  properties: {
    owner: {
      type: 'string',
      description: 'The account that owns the project, without a leading @.',
    },
    id: { type: 'string', description: 'The id of the object. Required unless a query is given.' },
    query: { type: 'string', description: 'Words that the name or the text must contain.' },
    state: {
      type: 'string',
      enum: ['open', 'closed', 'all'],
      description: 'Only objects in this state. Default: open.',
    },
    page: {
      type: 'number',
      minimum: 1,
      description: 'The page of the results, from 1 on. Default: 1.',
    },
  },
  required: ['owner'],
};
const tools = SUBJECTS.flatMap((subject) =>
  ACTIONS.map(([action, description]) => ({
    name: `${action}_${subject}`,
    description,
    inputSchema,
  })),
);

let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) if (line.trim() !== '') answer(JSON.parse(line));
});

function answer({ id, method }) {
  if (id === undefined) return;
  const send = (body) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
  if (method === 'initialize') {
    const serverInfo = { name, version: '1' };
    const instructions = `Use this server for everything about ${name}.`;
    send({
      result: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo,
        instructions,
      },
    });
  } else if (method === 'tools/list') send({ result: { tools } });
  else send({ error: { code: -32601, message: 'unknown method' } });
}
