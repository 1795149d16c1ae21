// The official TypeScript client, second generation: it knows 2026-07-28 too, and speaks only that if PROTOCOL says so.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { look, readArguments } from './look.mjs';

const { calls, url, command, args } = readArguments();
const transport = url
    ? new StreamableHTTPClientTransport(url)
    : new StdioClientTransport({ command, args, env: process.env });
const client = new Client(
    { name: 'look-v2', version: '1.0.0' },
    { versionNegotiation: { mode: process.env.PROTOCOL ? { pin: process.env.PROTOCOL } : 'legacy' } },
);
await look(client, transport, calls);
