/** Stands in for a provider, on the loopback address: prints each prompt, and turns every fourth request away. Node only. */
import { createServer } from 'node:http';

let requests = 0;
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    if (++requests % 4 === 0) {
      response.writeHead(429).end();
      return;
    }
    const { prompt } = JSON.parse(body) as { readonly prompt: string };
    console.log(`asked: ${prompt}`);
    const text = prompt.startsWith('List') ? 'a loose plank; rust' : String(prompt.length % 10);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ text, inputTokens: prompt.length, outputTokens: text.length }));
  });
});
server.listen(Number(process.env['PORT'] ?? 8787), '127.0.0.1', () => {
  const address = server.address();
  console.log(`listening on ${typeof address === 'object' ? address?.port : address}`);
});
