// An HTTP server that streams the events of a run to the browser (server-sent events).
import { createServer } from 'node:http';
import { createMuster } from 'muster-agent';

const muster = await createMuster({
  model: 'anthropic/claude-sonnet-4-5',
  environment: process.env,
});
const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const prompt = url.searchParams.get('q') ?? 'Say hello.';
  const run = muster.run(prompt, { signal: gone.signal, deltas: true, budget: { turns: 20 } });
  for await (const event of run) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  const { output } = await run;
  response.end(`event: result\ndata: ${JSON.stringify(output)}\n\n`);
});
server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => console.log(server.address()));
process.once('SIGTERM', () => {
  server.close();
  void muster.close();
});
