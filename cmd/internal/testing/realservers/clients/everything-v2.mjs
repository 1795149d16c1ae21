// The everything server as the second generation of the official client sees it, in the era that the server speaks.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { capabilities, door, observe } from './everything.mjs';

// anything is a schema that every result passes.
const anything = { '~standard': { version: 1, vendor: 'none', validate: (value) => ({ value }) } };

const { url, command, args } = door();
const transport = url
    ? new StreamableHTTPClientTransport(url)
    : new StdioClientTransport({ command, args, env: process.env, stderr: 'ignore' });
const client = new Client({ name: 'observe-v2', version: '1.0.0' }, { capabilities, versionNegotiation: { mode: 'legacy' } });
await observe(client, transport, {
    on: (method, answer) => client.setRequestHandler(method, answer),
    hear: (method, listener) => client.setNotificationHandler(method, listener),
    call: (params, options) => client.callTool(params, options),
    request: (request) => client.request(request, anything),
});
