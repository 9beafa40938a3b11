// The reference for a start: sends one request to the server at argv[2] and reads the answer to its end.
const response = await fetch(`${process.argv[2]}/v1/messages`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    model: 'fake-model',
    max_tokens: 16,
    stream: true,
    messages: [{ role: 'user', content: 'Hello.' }],
  }),
});
await response.text();
