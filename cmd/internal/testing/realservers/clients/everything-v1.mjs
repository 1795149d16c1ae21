// The everything server as the first generation of the official client sees it.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    CreateMessageRequestSchema,
    ElicitRequestSchema,
    ListRootsRequestSchema,
    LoggingMessageNotificationSchema,
    ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { capabilities, door, observe } from './everything.mjs';

const schemas = {
    'roots/list': ListRootsRequestSchema,
    'sampling/createMessage': CreateMessageRequestSchema,
    'elicitation/create': ElicitRequestSchema,
    'notifications/message': LoggingMessageNotificationSchema,
};
const { url, command, args } = door();
const transport = url
    ? new StreamableHTTPClientTransport(url)
    : new StdioClientTransport({ command, args, env: process.env, stderr: 'ignore' });
const client = new Client({ name: 'observe-v1', version: '1.0.0' }, { capabilities });
await observe(client, transport, {
    on: (method, answer) => client.setRequestHandler(schemas[method], answer),
    hear: (method, listener) => client.setNotificationHandler(schemas[method], listener),
    call: (params, options) => client.callTool(params, undefined, options),
    request: (request) => client.request(request, ResultSchema),
});
