// The official TypeScript client, first generation: one package, protocol versions up to 2025-11-25.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { look, readArguments } from './look.mjs';

const { calls, url, command, args } = readArguments();
const transport = url
    ? new StreamableHTTPClientTransport(url)
    : new StdioClientTransport({ command, args, env: process.env });
await look(new Client({ name: 'look-v1', version: '1.0.0' }), transport, calls);
